"""The table of what was run."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from guests.guest import Outcome
from guests.job import Left
from guests.machines import MACHINES, machine
from guests.table import table
from guests.wheels import ROOT

LEFT = Left(0, "fine", b"", Path())
RIGHT = Outcome(machine("amd64-6.1-v1"), "zombies", "6.1.0-50", True, 21.4, LEFT, "", [], "2026-11-19")


def test_a_run_is_right_when_its_job_and_its_kernel_say_so() -> None:
    assert RIGHT.good
    changes = ({"ended": False}, {"complaints": ["BUG: x"]}, {"left": Left(1, "", b"", Path())})
    for change in (*changes, {"left": Left(None, "", b"", Path())}):
        assert not dataclasses.replace(RIGHT, **change).good


def test_a_row_for_each_guest_and_a_column_for_each_job() -> None:
    wrong = dataclasses.replace(RIGHT, job="pinned_hog", complaints=["BUG: x"], seconds=99.6)
    other = dataclasses.replace(RIGHT, machine=machine("arm64-pmu"))
    assert table([RIGHT, wrong, other]).splitlines() == [
        "| guest | kernel | cgroups | date | `zombies` | `pinned_hog` |",
        "| --- | --- | --- | --- | --- | --- |",
        "| `amd64-6.1-v1` | 6.1.0-50 | v1 | 2026-11-19 | right, 21 s | WRONG, 100 s |",
        "| `arm64-pmu` | 6.1.0-50 | v2 | 2026-11-19 | right, 21 s | not run |",
    ]


def test_every_guest_is_in_the_table_of_the_documentation() -> None:
    page = (ROOT / "docs/support.md").read_text("utf-8")
    assert not [one.name for one in MACHINES if f"| `{one.name}` |" not in page]
