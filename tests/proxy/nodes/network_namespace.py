"""A network namespace of Linux, joined to this one by a cable that can be pulled out."""

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

PROGRAM = shutil.which("ip", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


class NetworkNamespace:
    def __init__(self) -> None:
        # Of the addresses that are for one cable only.
        net = f"169.254.{random.randint(1, 254)}"
        first = 4 * random.randint(0, 60)
        self.host, self.inside = f"{net}.{first + 1}", f"{net}.{first + 2}"
        self.name = f"tabhub-{os.urandom(3).hex()}"
        self.cable = f"th{os.urandom(4).hex()}"

    @property
    def prefix(self) -> tuple[str, ...]:
        """What runs a command inside."""
        return (str(PROGRAM), "netns", "exec", self.name)

    def make(self) -> None:
        self._run("netns", "add", self.name)
        peer = ("peer", "name", "inside", "netns", self.name)
        self._run("link", "add", self.cable, "type", "veth", *peer)
        self._run("address", "add", f"{self.host}/30", "dev", self.cable)
        self._run("-n", self.name, "address", "add", f"{self.inside}/30", "dev", "inside")
        self._run("-n", self.name, "link", "set", "inside", "up")
        self._run("-n", self.name, "link", "set", "lo", "up")
        self.join()

    def cut(self) -> None:
        self._run("link", "set", self.cable, "down")

    def join(self) -> None:
        self._run("link", "set", self.cable, "up")

    def remove(self) -> None:
        """Its end of the cable goes with it, and with that the other."""
        self._run("netns", "delete", self.name)

    def _run(self, *arguments: str) -> None:
        subprocess.run([str(PROGRAM), *arguments], check=True, capture_output=True, text=True)


@contextmanager
def network_namespace() -> Iterator[NetworkNamespace]:
    if PROGRAM is None or os.geteuid() != 0:
        pytest.skip("network namespaces need Linux, root and iproute2")
    found = NetworkNamespace()
    found.make()
    try:
        yield found
    finally:
        found.remove()
