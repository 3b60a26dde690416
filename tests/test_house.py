"""The house: folders that a stranger finds their way in."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "necroscope"
MOST = 14
# One file each by design: a scenario, a rule.
CATALOGUES = {SOURCE / "lab" / "scenarios", SOURCE / "diagnose" / "rules"}
# Names that say nothing of what is inside.
DRAWERS = {"utils", "util", "helpers", "common", "misc", "manager", "base"}


def folders() -> list[Path]:
    return sorted({file.parent for file in SOURCE.rglob("*.py")})


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: str(folder.relative_to(SOURCE)))
def test_no_folder_holds_more_than_a_stranger_can_survey(folder: Path) -> None:
    modules = [file.stem for file in folder.glob("*.py") if file.stem != "__init__"]
    assert not set(modules) & DRAWERS
    assert folder in CATALOGUES or len(modules) <= MOST, sorted(modules)


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: str(folder.relative_to(SOURCE)))
def test_every_folder_says_what_is_inside(folder: Path) -> None:
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8")))
    assert docstring
    assert docstring[0].isupper() or docstring[0] == "`" or docstring.startswith("perf")


def test_every_test_stands_where_what_it_tests_stands() -> None:
    """A test folder mirrors a folder of the package, or is one of those that hold no tests of single modules."""
    own = {"real", "stage", "attacks", "hosts", "incidents", "cases", "guests"}
    strangers = [
        str(file.relative_to(ROOT))
        for file in (ROOT / "tests").rglob("test_*.py")
        if file.parent != ROOT / "tests"
        and file.relative_to(ROOT / "tests").parts[0] not in own
        and not (SOURCE / file.parent.relative_to(ROOT / "tests")).is_dir()
    ]
    assert not strangers


@pytest.mark.parametrize("file", sorted((ROOT / "bench").rglob("*.py")), ids=lambda file: file.name)
def test_what_the_benchmarks_import_is_there(file: Path) -> None:
    """They run by hand only: a module that moved would be noticed when a figure is needed."""
    imports = [one for one in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(one, ast.ImportFrom)]
    for one in imports:
        if one.module is not None and one.module.startswith("necroscope"):
            module = importlib.import_module(one.module)
            for name in one.names:
                found = hasattr(module, name.name) or importlib.util.find_spec(f"{one.module}.{name.name}")
                assert found, f"{one.module}: {name.name}"
