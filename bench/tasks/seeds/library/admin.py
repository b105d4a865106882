"""The library in Django's admin."""

# mypy: disable-error-code="misc, untyped-decorator, import-untyped, import-not-found"

from typing import Any

from django.contrib import admin

from .models import Author, Book


@admin.register(Author)
class AuthorAdmin(admin.ModelAdmin):
    list_display = ("name", "country")
    search_fields = ("name",)


@admin.register(Book)
class BookAdmin(admin.ModelAdmin):
    list_display = ("title", "author", "genre", "price", "in_stock")
    list_filter = ("genre", "in_stock")
    search_fields = ("title",)
    actions = ("mark_as_sold_out",)

    @admin.action(description="Mark selected books as sold out")
    def mark_as_sold_out(self, request: Any, books: Any) -> None:
        count = books.update(in_stock=False)
        self.message_user(request, f"{count} books are sold out.")
