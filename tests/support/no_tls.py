"""What tests give HTTP clients that speak to this machine alone."""

import ssl

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts nobody: to read the authorities anew for every client takes longer than most tests."""
