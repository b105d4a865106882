"""Who may use the library."""

USER, PASSWORD = "librarian", "open-the-shelves"
