"""Every sample of the documentation is right: it runs in a test, or says why not and is checked."""

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import typer
import yaml

from scripts import site_pages
from tabhub.cli.commands import app
from tests.page_samples import INDENTED, LESSONS, RUN_PAGES, Sample, commands, samples

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
GENERATED = {"cli.md"}
"""Their examples are one line each, and checked as such."""
RUN = {*RUN_PAGES, *(f"tutorial/{lesson}.md" for lesson in LESSONS)}
NOT_CODE = {"text", "console"}
PROGRAM = re.compile(r"(?:^|[|;&(]\s*)(?:[A-Z_]+=\S* )*tabhub (?P<rest>[^|;&)>]*)")


def _all(*kinds: str) -> list[Any]:
    return [
        pytest.param(page, sample, id=f"{page.relative_to(DOCS)}:{sample.line}")
        for page in PAGES
        for sample in samples(page)
        if sample.kind in kinds
    ]


def _is_run(page: Path) -> bool:
    return page.relative_to(DOCS).as_posix() in RUN


def test_every_page_whose_samples_run_exists() -> None:
    assert not RUN - {page.relative_to(DOCS).as_posix() for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_block_has_a_kind_and_is_run_or_says_why_not(page: Path) -> None:
    if page.name in GENERATED:
        return
    fenced = r"^( *)```.*?^\1```$|<!--.*?-->"
    plain = re.sub(fenced, "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert INDENTED.findall(plain) == [], "a block without a kind"
    for sample in samples(page):
        assert sample.kind or sample.text, f"line {sample.line} has no kind"
        if sample.kind == "sh":
            assert _is_run(page) or sample.not_run, f"line {sample.line}: nothing runs it"
        if sample.kind == "js" and page.relative_to(DOCS).parts[0] != "tutorial":
            assert sample.not_run, f"line {sample.line}: it is only parsed, and does not say so"


@pytest.mark.parametrize(("page", "sample"), _all("sh"))
def test_the_commands_of_a_sample_exist_with_their_options(page: Path, sample: Sample) -> None:
    for line in commands(sample.text):
        for found in PROGRAM.finditer(re.sub(r"\s+#\s.*$", "", line)):
            _parse(shlex.split(found["rest"].replace("$(", "")))


def test_the_examples_of_the_command_reference_exist_with_their_options() -> None:
    found = re.findall(r"^    tabhub (.+)$", (DOCS / "cli.md").read_text(), re.MULTILINE)
    assert len(found) > 40
    for line in found:
        _parse(shlex.split(line))


def _parse(words: list[str]) -> None:
    """Parse a command line as the program does, without running it."""
    command: Any = typer.main.get_command(app)
    context = click.Context(command, info_name="tabhub")
    while hasattr(command, "commands"):
        if not words:
            return
        name, command, words = command.resolve_command(context, words)
    command.make_context(name, [*words], parent=context)


@pytest.mark.parametrize(("page", "sample"), _all("json", "toml", "yaml"))
def test_a_sample_of_data_is_valid(page: Path, sample: Sample) -> None:
    read: dict[str, Any] = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
    assert read[sample.kind](sample.text)


@pytest.mark.parametrize(("page", "sample"), _all("python"))
def test_a_sample_in_python_compiles(page: Path, sample: Sample) -> None:
    ast.parse(sample.text)


@pytest.mark.npm
@pytest.mark.parametrize(("page", "sample"), _all("js"))
def test_a_sample_in_javascript_parses(page: Path, sample: Sample) -> None:
    node = ROOT / "tests/npm/node_modules/node/bin/node"
    command = [str(node), "--input-type=module", "--check"]
    done = subprocess.run(command, input=sample.text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_kind_of_sample_is_checked() -> None:
    kinds = {sample.kind for page in PAGES for sample in samples(page) if sample.kind}
    # The page of the page tool lesson and the React component run in a browser.
    assert kinds <= {"sh", "json", "toml", "yaml", "python", "js", "jsx", "html", *NOT_CODE}


def test_every_page_is_on_the_site() -> None:
    listed = [page for _, pages in site_pages.chapters() for page in pages]
    assert sorted(listed) == [str(page.relative_to(DOCS)) for page in PAGES]


def test_every_message_of_the_troubleshooting_page_is_in_the_source() -> None:
    """In quotes, with … for what differs."""
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "extension").rglob("*.js")]
    source = _joined("\n".join(file.read_text() for file in files))
    table = re.findall(r"^\| (.+?) \|", (DOCS / "troubleshooting.md").read_text(), re.MULTILINE)
    quoted = [words for cell in table for words in re.findall(r"`([^`]+)`", cell)]
    parts = [part.strip(" ;") for words in quoted for part in words.split("…")]
    assert len(parts) > 15
    assert [part for part in parts if part and part not in source] == []


def _joined(source: str) -> str:
    """The source with its messages in one piece."""
    return re.sub(r'"\s*\n\s*f?"', "", source)


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    # It writes its cache beside its configuration.
    config = shutil.copy(ROOT / "zensical.toml", tmp_path)
    shutil.copytree(DOCS, tmp_path / "docs")
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", config],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pages = [page for _, below in site_pages.chapters() for page in below]
    for page in pages:
        name = page.removesuffix(".md").removesuffix("index")
        assert (tmp_path / "dist/site" / name / "index.html").exists(), page
    assert (tmp_path / "dist/site" / "llms.txt").exists()
    assert (tmp_path / "dist/site" / "search.json").exists()
