"""Starts tabhub's bridge for the application that this bundle is installed in."""

import sys

from tabhub.cli import main

sys.argv = ["tabhub", "start", "--stdio"]
main()
