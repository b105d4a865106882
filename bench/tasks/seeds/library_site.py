"""Django's admin over the library: `library_site.py FOLDER seed|runserver ...`."""

# mypy: disable-error-code="import-untyped, import-not-found, unused-ignore"

import sys
from pathlib import Path
from typing import Any

import django
from accounts import PASSWORD, USER
from django.conf import settings
from django.core.management import call_command, execute_from_command_line

COUNTRIES = ("Chile", "Ghana", "India", "Japan", "Norway", "Peru")
AUTHORS, BOOKS = 24, 90


def configure(folder: Path) -> None:
    settings.configure(
        DEBUG=True,
        SECRET_KEY="only for the tasks",
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF=__name__,
        DATABASES={
            "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "library.db"}
        },
        INSTALLED_APPS=[
            "django.contrib.admin",
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "django.contrib.messages",
            "django.contrib.staticfiles",
            "library",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.auth.context_processors.auth",
                        "django.contrib.messages.context_processors.messages",
                    ]
                },
            }
        ],
        STATIC_URL="static/",
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    )
    django.setup()


def seed() -> None:
    from django.contrib.auth.models import User
    from library.models import Author, Book

    call_command("migrate", run_syncdb=True, verbosity=0)
    User.objects.create_superuser(USER, password=PASSWORD)
    authors = [
        Author.objects.create(name=f"Author {number:02}", country=COUNTRIES[number % 6])
        for number in range(1, AUTHORS + 1)
    ]
    genres = Book.Genre.values
    for number in range(1, BOOKS + 1):
        Book.objects.create(
            title=f"Book {number:03}",
            author=authors[number % AUTHORS],
            genre=genres[number % len(genres)],
            price=5 + number / 4,
        )


def __getattr__(name: str) -> Any:
    """The addresses, which need the settings first."""
    if name != "urlpatterns":
        raise AttributeError(name)
    from django.contrib import admin
    from django.urls import path

    return [path("admin/", admin.site.urls)]


if __name__ == "__main__":
    configure(Path(sys.argv[1]))
    if sys.argv[2] == "seed":
        seed()
    else:
        execute_from_command_line([sys.argv[0], *sys.argv[2:]])
