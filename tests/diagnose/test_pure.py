"""Reasoning reads nothing but the program's own files."""

from __future__ import annotations

import ast
from importlib import resources
from pathlib import Path

FORBIDDEN = {"io", "os", "pathlib", "shutil", "socket", "subprocess", "tempfile", "time"}


def test_no_module_of_diagnose_can_open_a_file_or_ask_the_node() -> None:
    with resources.as_file(resources.files("necroscope.diagnose")) as folder:
        found = {
            f"{path.relative_to(folder)}: {name}"
            for path in Path(folder).rglob("*.py")
            for name in _imported(path.read_text())
            if name.partition(".")[0] in FORBIDDEN
        }
    assert found == set()


def _imported(text: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names
