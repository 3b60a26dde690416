"""Pages are true to the tree: paths, verbs, layers and pictures exist, every page is found, lines fit."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from necroscope.cli.main import VERBS
from necroscope.sense.log.symptoms import catalogue

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "necroscope"
DOCS = ROOT / "docs"
READ = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted(DOCS.glob("*.md"))]
PAGES = [*READ, ROOT / "CHANGELOG.md", *sorted((ROOT / "bench").rglob("*.md"))]
# What begins a path from the root of the repository, and names in a path that stand for others.
TOPS = ("src/", "tests/", "docs/", "bench/", "tools/", "guests/")
# What a recipe makes.
NEW = ("kernel_memory.py", "loadavg.py")
STANDS_FOR = re.compile(r"[A-Z]{3,}|[*<>{}]|\.\.\.")


def _named(page: Path) -> list[str]:
    """Paths in code: `tests/incidents`, `bench/RESULTS.md`."""
    words = re.findall(r"`([^`\s]+)`", page.read_text("utf-8"))
    there = [word for word in words if word.startswith(TOPS) and not word.endswith(NEW)]
    return [word for word in there if not STANDS_FOR.search(word.removesuffix("README.md").removesuffix("RESULTS.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_is_wider_than_120_columns(page: Path) -> None:
    """`tools/wrap-docs` mends it. Rows of tables cannot be wrapped."""
    lines = page.read_text("utf-8").splitlines()
    wide = [f"{number}: {line[:60]}" for number, line in enumerate(lines, 1) if len(line) > 120]
    assert [line for line in wide if not line.split(": ", 1)[1].lstrip().startswith("|")] == []


@pytest.mark.parametrize("page", READ, ids=lambda page: page.name)
def test_every_file_that_is_named_exists(page: Path) -> None:
    assert [word for word in _named(page) if not (ROOT / word.partition("::")[0]).exists()] == []


@pytest.mark.parametrize("page", READ, ids=lambda page: page.name)
def test_every_verb_that_is_named_exists(page: Path) -> None:
    drawn = re.findall(r"(?:^|`|\$ |sudo |&& |\| )necroscope ([a-z]+)\b", page.read_text("utf-8"), re.MULTILINE)
    assert set(drawn) - set(VERBS) == set()


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    pages = {page.name for page in DOCS.glob("*.md")} - {"README.md"}
    assert {page for page in pages if f"]({page})" not in index} == set()


def test_the_layers_are_those_that_are_checked() -> None:
    """The first block of the page is the contract of import-linter, from left to right."""
    drawn = re.findall(r"```\n(.*?)```", (DOCS / "architecture.md").read_text("utf-8"), re.DOTALL)[0]
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0]
    layers = [layer.replace("necroscope.", "") for layer in reversed(contract["layers"])]
    assert [word.strip() for word in drawn.split("<")] == layers


def test_the_files_of_both_walks_and_where_to_look_exist() -> None:
    page = (DOCS / "architecture.md").read_text("utf-8")
    named = re.findall(r"`([a-z_]+(?:/[a-z_0-9]+)+(?:\.[a-z]+)?)`", page)
    assert len(named) > 60
    assert [path for path in named if not (SOURCE / path).exists() and not (ROOT / path).exists()] == []


@pytest.mark.parametrize("picture", sorted((DOCS / "images").glob("*.svg")), ids=lambda picture: picture.name)
def test_the_symptoms_of_a_picture_are_kinds_that_exist(picture: Path) -> None:
    drawn = re.findall(r"  symptom  ([a-z-]+):", picture.read_text("utf-8"))
    assert set(drawn) <= set(catalogue().kinds)


def test_a_reader_meets_the_two_commands_first() -> None:
    """What it is, whether it is safe, what it costs come before how it looks."""
    text = (ROOT / "README.md").read_text("utf-8")
    first = re.search(r"```\n(.*?)```", text, re.DOTALL)
    assert first is not None
    assert [line.split("#")[0].strip() for line in first[1].splitlines()] == ["make demo", "make test"]
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads[:5] == ["What it is", "Is it safe on production?", "What it costs", "Install", "Verbs"]
