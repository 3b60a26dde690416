"""The tree of the dentry storm."""

from __future__ import annotations

from pathlib import Path

from necroscope.lab.scenarios.dentry_storm import plant


def test_as_many_names_as_it_says(tmp_path: Path) -> None:
    count = plant(tmp_path / "tree", 40)
    names = list((tmp_path / "tree").rglob("entry-*"))
    assert count == len(names) == 4000
    assert len({path.stat().st_ino for path in names}) == 1
    assert len({path.parent for path in names}) == 40
