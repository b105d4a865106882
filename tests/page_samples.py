"""The samples of the documentation: code blocks in order, and steps by hand in between."""

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

_PART = re.compile(
    r"^[ ]*<!-- (?P<word>not run|by hand): (?P<note>.+?) -->\n"
    r"|^(?P<indent>[ ]*)```(?P<kind>\w*)(?: (?P<file>\S+))?\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
LESSONS = ["first-call", "own-chrome", "page-tool", "python-plugin", "remote-browser"]
"""The pages of the tutorial, in order."""
RUN_PAGES = [
    *(f"how-to/{name}.md" for name in ("clients", "several-agents", "unattended")),
    *("command-line.md", "permissions.md", "connecting.md", "using.md"),
]
"""The other pages whose shell samples `tests/real/product/test_samples.py` runs."""
INDENTED = re.compile(r"\n\n((?: {4}\S[^\n]*\n)+)")


@dataclass(frozen=True)
class Sample:
    """A block, or a step by hand, which has no kind."""

    kind: str
    text: str
    line: int
    file: str = ""
    """What the page calls it, if it is the content of a file."""
    not_run: str = ""
    """Why no test runs it."""


def samples(page: Path) -> list[Sample]:
    found: list[Sample] = []
    text, excuse, end = page.read_text(), "", -1
    for match in _PART.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["word"] == "by hand":
            found.append(Sample("", match["note"], line))
        elif match["word"]:
            excuse, end = match["note"], match.end()
        else:
            why = excuse if match.start() == end else ""
            code = textwrap.dedent(match["text"])
            found.append(Sample(match["kind"], code, line, match["file"] or "", why))
    return found


def commands(shell: str) -> list[str]:
    """The commands of a block, each on one line."""
    lines = shell.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
