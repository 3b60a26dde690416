"""The reader of the directories that were left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.lab.scenarios.cgroup_directories import folders_below, read_files


def test_it_visits_each_directory_once(tmp_path: Path) -> None:
    for name in ("jobs/job-1", "jobs/job-2/inner", "other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "jobs" / "memory.stat").write_text("cache 0\n")
    (tmp_path / "loop").symlink_to(tmp_path)
    found = sorted(str(Path(folder).relative_to(tmp_path)) for folder in folders_below(str(tmp_path)))
    assert found == [".", "jobs", "jobs/job-1", "jobs/job-2", "jobs/job-2/inner", "other"]


def test_it_reads_what_it_is_told_to(tmp_path: Path) -> None:
    (tmp_path / "memory.stat").write_text("cache 0\n")
    assert read_files(str(tmp_path), ["memory.stat"]) == len("cache 0\n")
    with pytest.raises(FileNotFoundError):
        read_files(str(tmp_path), ["cgroup.procs"])
