"""The program's own surroundings, before any verb runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from necroscope.cli import main


def _temporary(monkeypatch: pytest.MonkeyPatch, folder: Path) -> str | None:
    monkeypatch.setenv("TMPDIR", str(folder))
    with pytest.raises(SystemExit):
        main.run(["--version"])
    return os.environ.get("TMPDIR")


@pytest.mark.root
def test_a_temporary_folder_that_others_may_change_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert _temporary(monkeypatch, tmp_path) == str(tmp_path)
    assert _temporary(monkeypatch, tmp_path / "absent") is None
    tmp_path.chmod(0o1777)
    assert _temporary(monkeypatch, tmp_path) == str(tmp_path)
    tmp_path.chmod(0o777)
    assert _temporary(monkeypatch, tmp_path) is None
    tmp_path.chmod(0o755)
    os.chown(tmp_path, 12345, 0)
    assert _temporary(monkeypatch, tmp_path) is None
    os.chown(tmp_path, 0, 0)
