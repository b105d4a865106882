"""The server as a whole: builds its parts, connects them, starts and stops them."""
