"""`tabhub extension path`."""

from tabhub.browser.launcher.installation import install_extension
from tabhub.config import secret, settings
from tabhub.config.paths import Home


def run() -> None:
    home = Home.from_environment().create()
    stored = secret.load(home)
    secret.prepare(home, stored.port if stored else settings.load(home).port)
    print(install_extension(home))
