"""The tables of the library."""

# mypy: disable-error-code="misc, import-untyped, import-not-found, unused-ignore"

from django.db import models


class Author(models.Model):
    name = models.CharField(max_length=100)
    country = models.CharField(max_length=60, blank=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return str(self.name)


class Book(models.Model):
    class Genre(models.TextChoices):
        NOVEL = "novel", "Novel"
        POETRY = "poetry", "Poetry"
        SCIENCE = "science", "Science"
        TRAVEL = "travel", "Travel"

    title = models.CharField(max_length=200)
    author = models.ForeignKey(Author, on_delete=models.PROTECT)
    genre = models.CharField(max_length=10, choices=Genre.choices)
    price = models.DecimalField(max_digits=6, decimal_places=2)
    in_stock = models.BooleanField(default=True)

    class Meta:
        ordering = ("title",)

    def __str__(self) -> str:
        return str(self.title)
