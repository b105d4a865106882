"""The certificate of a node: files that cannot be used are refused in words, and never served."""

import logging
import time
from pathlib import Path

import pytest

from tabhub.errors import InvalidArguments
from tabhub.proxy.certificates import CertificateFiles
from tests.proxy.certificates import certificate, trusting
from tests.proxy.served import ServedProxy, served
from tests.support.eventually import eventually

pytestmark = pytest.mark.requirement("PX-10")


def files(folder: Path, kind: str) -> CertificateFiles:
    """Two files that do not fit."""
    good = CertificateFiles(*certificate(folder, "a.example"))
    (folder / "other").mkdir()
    other = CertificateFiles(*certificate(folder / "other", "b.example", passphrase=b"secret"))
    damaged, empty = folder / "damaged.pem", folder / "empty.pem"
    damaged.write_bytes(good.certificate.read_bytes()[:200])
    empty.touch()
    damaged_key = folder / "damaged-key.pem"
    damaged_key.write_bytes(good.key.read_bytes()[:80])
    (folder / "third").mkdir()
    third = CertificateFiles(*certificate(folder / "third", "c.example"))
    return {
        "no file": CertificateFiles(folder / "none.pem", good.key),
        "no key file": CertificateFiles(good.certificate, folder / "none.pem"),
        "a folder": CertificateFiles(folder, good.key),
        "swapped": CertificateFiles(good.key, good.certificate),
        "empty": CertificateFiles(empty, good.key),
        "damaged": CertificateFiles(damaged, good.key),
        "damaged key": CertificateFiles(good.certificate, damaged_key),
        "certificate twice": CertificateFiles(good.certificate, good.certificate),
        "passphrase": CertificateFiles(other.certificate, other.key),
        "another key": CertificateFiles(good.certificate, third.key),
    }[kind]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("no file", "--tls-cert .*none.pem cannot be read: No such file"),
        ("no key file", "--tls-key .*none.pem cannot be read: No such file"),
        ("a folder", "--tls-cert .* cannot be read: Is a directory"),
        ("swapped", "--tls-cert .*key.pem is a key. Give the certificate as --tls-cert"),
        ("empty", "has no certificate in it. A file in PEM is needed"),
        ("damaged", "--tls-cert .*damaged.pem is damaged"),
        ("damaged key", "key.pem.*cannot be used.*Make them again"),
        ("certificate twice", "--tls-key .*cert.pem has no private key in it"),
        ("passphrase", "has a passphrase.*openssl pkey -in"),
        ("another key", "does not belong to the first certificate"),
    ],
)
def test_files_that_cannot_be_used_are_refused_in_words(
    tmp_path: Path, kind: str, words: str
) -> None:
    with pytest.raises(InvalidArguments, match=words) as refused:
        files(tmp_path, kind).check()
    assert "_ssl.c" not in refused.value.message


async def shown(proxy: ServedProxy) -> bytes:
    async with proxy.connect("/mcp", ssl=trusting()) as connection:
        found: bytes = connection.transport.get_extra_info("ssl_object").getpeercert(True)
        return found


async def test_while_only_one_of_two_files_is_new_the_old_ones_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("tabhub.proxy.certificates.LOOK_SECONDS", 0.05)
    looks: list[CertificateFiles] = []
    check = CertificateFiles.check

    def noted(files: CertificateFiles) -> float:
        looks.append(files)
        return check(files)

    monkeypatch.setattr(CertificateFiles, "check", noted)
    (tmp_path / "new").mkdir()
    paths, new = certificate(tmp_path, "old.example"), certificate(tmp_path / "new", "new.example")
    async with served(certificate=paths[0], certificate_key=paths[1]) as proxy:
        paths[0].write_bytes(new[0].read_bytes())
        await eventually(lambda: "the old certificate stays" in caplog.text)
        before = len(looks)
        await eventually(lambda: len(looks) > before + 2)
        assert caplog.text.count("the old certificate stays") == 1, "said once, not at every look"
        assert b"old.example" in await shown(proxy)
        paths[1].write_bytes(new[1].read_bytes())
        await eventually(lambda: shown(proxy), until=lambda found: b"new.example" in found)


@pytest.mark.parametrize(("days", "words"), [(-1, "has expired on"), (3, "expires on"), (300, "")])
async def test_an_operator_learns_when_a_certificate_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, days: int, words: str
) -> None:
    caplog.set_level(logging.WARNING, "tabhub")
    cert, key = certificate(tmp_path, "a.example", days)
    async with served(certificate=cert, certificate_key=key) as proxy, proxy.http() as http:
        page = (await http.get(f"{proxy.admin}/metrics")).text
        name = "tabhub_proxy_certificate_expiry_timestamp_seconds"
        (value,) = (line.split()[1] for line in page.splitlines() if line.startswith(f"{name} "))
        assert float(value) == pytest.approx(time.time() + days * 86400, abs=3600)
    said = [record.getMessage() for record in caplog.records]
    assert any(words in one for one in said) if words else said == []
