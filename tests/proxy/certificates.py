"""Certificates that nobody has signed, for nodes with TLS."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

LOOPBACK = ip_address("127.0.0.1")


def trusting() -> ssl.SSLContext:
    """Takes every certificate."""
    found = ssl.create_default_context()
    found.check_hostname, found.verify_mode = False, ssl.CERT_NONE
    return found


def certificate(
    folder: Path, name: str, days: float = 1, passphrase: bytes = b""
) -> tuple[Path, Path]:
    """Write a certificate of its own, which ends in some days, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=30))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(LOOPBACK)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    found, key_file = folder / "cert.pem", folder / "key.pem"
    hidden = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
    key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, hidden))
    found.write_bytes(made.public_bytes(Encoding.PEM))
    return found, key_file
