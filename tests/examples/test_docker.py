"""`examples/docker`: there may be no Docker, so its lines run in a copy of this system.

The copy is an overlay in namespaces of its own, as a container has them: what the lines write is
gone afterwards, and all processes end with the first. Only `apt-get` is replaced there, by a script
that installs nothing if the packages are there already.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from tests.built_package import ROOT
from tests.support.eventually import PATIENCE
from tests.support.http_client import free_port

ISOLATE = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]


def _can_isolate() -> bool:
    try:
        return subprocess.run([*ISOLATE, "true"], capture_output=True).returncode == 0
    except OSError:
        return False


pytestmark = [
    pytest.mark.real_browser,
    pytest.mark.slow,
    pytest.mark.skipif(not _can_isolate(), reason="needs root and unshare"),
]
PYTHON = "/opt/python"
PATH = f"{PYTHON}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
APT = """#!/bin/sh
[ "$1" = install ] || exit 0
shift
for word; do case $word in -*) ;; *) dpkg -s "$word" >/dev/null || exit 100 ;; esac; done
"""
SYSTEM = """set -e
exec 3>&1 >&2
mount --make-rprivate /
mount -t tmpfs none {place}
mkdir {place}/changes {place}/work {place}/root
mount -t overlay overlay -o lowerdir=/,upperdir={place}/changes,workdir={place}/work {place}/root
mount -t proc proc {place}/root/proc
mount --rbind /dev {place}/root/dev
mkdir -p {place}/root{wheels}
mount --bind {wheels} {place}/root{wheels}
cp {apt} {place}/root/usr/local/bin/apt-get
# Where the image has its Python, any user can read it.
chmod o+x {place}/root/root
chroot {place}/root {python} -m venv {home}
"""
IN_SYSTEM = "{keyword}chroot --userspec={user} {place}/root env -i {variables} {command}\n"


def instructions(text: str) -> list[tuple[str, str]]:
    """The Dockerfile's instructions, each with what follows its word."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    joined = re.sub(r"\\\n\s*", "", lines).splitlines()
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined) if word]


def script(dockerfile: str, folder: Path, wheelhouse: Path, port: int) -> str:
    """What Docker would do with the file, as a script for a shell in namespaces of its own."""
    (folder / "system").mkdir()
    (folder / "apt-get").write_text(APT)
    (folder / "apt-get").chmod(0o755)
    names = {"place": folder / "system", "wheels": wheelhouse, "apt": folder / "apt-get"}
    parts = [SYSTEM.format(**names, python=Path(sys.executable).resolve(), home=PYTHON)]
    user, variables = "root", {"PATH": PATH, "HOME": "/root", "TABHUB_PORT": str(port)}
    building = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheelhouse)}

    def run(command: list[str], more: dict[str, str], keyword: str = "") -> None:
        given = shlex.join(f"{name}={value}" for name, value in (variables | more).items())
        where = {"user": user, "place": names["place"], "variables": given}
        parts.append(IN_SYSTEM.format(keyword=keyword, command=shlex.join(command), **where))

    for word, rest in instructions(dockerfile):
        if word == "RUN":
            run(["sh", "-c", re.sub(r"--mount=\S+ ", "", rest)], building)
        elif word == "USER":
            user, variables = rest, {**variables, "HOME": f"/home/{rest}"}
        elif word == "CMD":
            run(json.loads(rest), {}, "exec >&3; exec ")
        else:
            assert word == "FROM" and rest.startswith("python:"), word
    return "".join(parts)


async def test_an_agent_uses_the_chromium_of_the_image(
    tmp_path: Path, wheelhouse: Path, page: str
) -> None:
    text = (ROOT / "examples/docker/Dockerfile").read_text()
    file = tmp_path / "image.sh"
    file.write_text(script(text, tmp_path, wheelhouse, free_port()))
    container = StdioServerParameters(
        command=ISOLATE[0], args=[*ISOLATE[1:], "sh", str(file)], env={"PATH": os.environ["PATH"]}
    )
    async with Client(container, read_timeout_seconds=3 * PATIENCE) as client:
        opened = await client.call_tool("browser_open_tab", {"url": page})
    (first, *_) = opened.content
    assert not opened.is_error and isinstance(first, TextContent), opened
    assert "Example Domain" in first.text


def test_the_file_is_read_as_docker_reads_it() -> None:
    text = '# a\nFROM python:3\nRUN a && \\\n    b\nCMD ["c", \\\n     "d"]\n'
    assert instructions(text) == [
        ("FROM", "python:3"),
        ("RUN", "a && b"),
        ("CMD", '["c", "d"]'),
    ]
