"""The certificate of a node: its files are checked before they are used, and followed after."""

import asyncio
import logging
import ssl
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cryptography import x509

from tabhub.errors import InvalidArguments
from tabhub.rate_limit import Clock

log = logging.getLogger(__name__)

LOOK_SECONDS = 10.0
"""How often the files are looked at."""
SOON_SECONDS = 7 * 24 * 3600.0
"""So long before its end a certificate is worth a warning."""
_CERTIFICATE, _KEY = b"-----BEGIN CERTIFICATE-----", b"PRIVATE KEY-----"
_ENCRYPTED = (b"ENCRYPTED PRIVATE KEY", b"Proc-Type: 4,ENCRYPTED")


class CertificateFiles(NamedTuple):
    """`--tls-cert` and `--tls-key`."""

    certificate: Path
    key: Path

    def check(self) -> float:
        """When the certificate ends, in seconds since 1970; raises InvalidArguments."""
        certificate, key = _read("--tls-cert", self.certificate), _read("--tls-key", self.key)
        _require_kinds(self, certificate, key)
        try:
            first = x509.load_pem_x509_certificates(certificate)[0]
        except ValueError:
            raise InvalidArguments(
                f"--tls-cert {self.certificate} is damaged: a certificate in it cannot be read. "
                "Copy it again as a whole."
            ) from None
        try:
            # Not the context in use: one that fails halfway would serve nobody.
            self.load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
        except ssl.SSLError as error:
            raise _unusable(self, error) from None
        return first.not_valid_after_utc.timestamp()

    def load(self, context: ssl.SSLContext) -> None:
        # Without this, a key with a passphrase would make a service ask at a terminal.
        context.load_cert_chain(self.certificate, self.key, password=lambda: "")

    def stamps(self) -> list[tuple[int, int]]:
        """What changes when a file is replaced."""
        found: list[tuple[int, int]] = []
        for path in self:
            # Between two versions there may be none.
            with suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime_ns, status.st_ino))
        return found


def _read(flag: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidArguments(f"{flag} {path} cannot be read: {error.strerror}.") from None


def _require_kinds(files: CertificateFiles, certificate: bytes, key: bytes) -> None:
    if _CERTIFICATE not in certificate:
        is_key = _KEY in certificate
        what = "is a key" if is_key else "has no certificate in it"
        hint = (
            "Give the certificate as --tls-cert and its key as --tls-key."
            if is_key
            else "A file in PEM is needed, which has a line -----BEGIN CERTIFICATE-----."
        )
        raise InvalidArguments(f"--tls-cert {files.certificate} {what}. {hint}")
    if _KEY not in key:
        raise InvalidArguments(
            f"--tls-key {files.key} has no private key in it. A file in PEM is needed, which has a "
            "line -----BEGIN PRIVATE KEY-----."
        )
    if any(mark in key for mark in _ENCRYPTED):
        raise InvalidArguments(
            f"--tls-key {files.key} has a passphrase, which nobody can type here. Write it without "
            f"one: openssl pkey -in {files.key} -out plain.pem"
        )


def _unusable(files: CertificateFiles, error: ssl.SSLError) -> InvalidArguments:
    if error.reason == "KEY_VALUES_MISMATCH":
        return InvalidArguments(
            f"The key in {files.key} does not belong to the first certificate in "
            f"{files.certificate}. Give the key with which that one was made; in a chain, the "
            "certificate of this service comes first."
        )
    why = f" ({error.reason})" if error.reason else ""
    return InvalidArguments(
        f"{files.certificate} and {files.key} cannot be used{why}: one of them is damaged, or too "
        "weak for TLS. Make them again."
    )


def end_of(certificate: Path) -> float | None:
    """When the certificate in a file ends, in seconds since 1970; None if it cannot be read."""
    try:
        first = x509.load_pem_x509_certificates(certificate.read_bytes())[0]
    except (OSError, ValueError):
        return None
    return first.not_valid_after_utc.timestamp()


def warning(certificate: Path, ends: float, now: float) -> str:
    """What is to be said about a certificate that ends soon or has ended; empty otherwise."""
    if ends > now + SOON_SECONDS:
        return ""
    day = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(ends))
    renew = "Renew it; the new files are taken without a restart."
    if ends > now:
        return f"The certificate in {certificate} expires on {day}. {renew}"
    return (
        f"The certificate in {certificate} has expired on {day}, so browsers and agents "
        f"refuse it. {renew}"
    )


class ServedCertificate:
    """The certificate that a node shows."""

    def __init__(self, files: CertificateFiles, wall_clock: Clock = time.time) -> None:
        self._files = files
        self._wall_clock = wall_clock
        self._warned = self._problem = ""
        self.ends = files.check()
        """When it expires, in seconds since 1970."""
        self._stamps = files.stamps()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        files.load(self.context)
        self._warn()

    async def follow(self) -> None:
        """Loop: take a certificate that has changed; open sockets keep the old one."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            found = self._files.stamps()
            if found != self._stamps:
                self._take(found)
            self._warn()

    def _take(self, stamps: list[tuple[int, int]]) -> None:
        try:
            ends = self._files.check()
            self._files.load(self.context)
        except (InvalidArguments, OSError) as error:
            # One of the two files may not be written yet.
            if str(error) != self._problem:
                log.warning("the old certificate stays: %s", error)
            self._problem = str(error)
            return
        log.info("took the new certificate")
        self.ends, self._stamps, self._problem = ends, stamps, ""

    def _warn(self) -> None:
        said = warning(self._files.certificate, self.ends, self._wall_clock())
        if said and said != self._warned:
            log.warning("%s", said)
        self._warned = said
