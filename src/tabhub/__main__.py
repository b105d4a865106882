"""`python -m tabhub`."""

from tabhub.cli import main

main()
