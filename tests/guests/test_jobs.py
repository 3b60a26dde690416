"""What jobs call right."""

from __future__ import annotations

from typing import Any

import pytest
from guests.jobs import pinned_hog, zombies
from guests.jobs.pinned_hog import CORE, HOG

ROW = {"name": HOG, "detail": "142", "cores": 0.6}
ROWS = [{**ROW, "name": "else"}, ROW]
TOP = {"event": "cycles/freq=97/", "core_seconds": 24.0, "cores": 2, "seen": 1.0, "rows": ROWS}
CAUSE = {"kind": "user-hog", "cpu": CORE, "process": {"name": HOG, "pid": 142}}


def test_top_shows_the_hog_by_the_event_that_the_machine_has() -> None:
    assert pinned_hog.shown(TOP, "cycles", 142)
    assert not pinned_hog.shown(TOP, "cpu-clock", 142)


def test_of_a_window_that_was_half_seen_half_of_that_is_enough() -> None:
    half = {**TOP, "core_seconds": 12.3, "seen": 0.51, "rows": [{**ROW, "cores": 0.49}]}
    assert pinned_hog.shown(half, "cycles", 142)
    assert not pinned_hog.shown({**half, "seen": 1.0}, "cycles", 142)


@pytest.mark.parametrize("change", [{"detail": "143"}, {"cores": 0.3}, {"name": "python3"}])
def test_top_without_the_hog_is_wrong(change: dict[str, Any]) -> None:
    assert not pinned_hog.shown({**TOP, "rows": [{**ROW, **change}]}, "cycles", 142)
    assert not pinned_hog.shown({**TOP, "rows": []}, "cycles", 142)


def test_why_names_the_hog_and_its_core() -> None:
    assert pinned_hog.named_by({"verdict": "explained", "cause": CAUSE}, 142)


@pytest.mark.parametrize(
    ("verdict", "cause"),
    [
        ("unexplained", None),
        ("partly-explained", CAUSE),
        ("explained", {**CAUSE, "cpu": 0}),
        ("explained", {**CAUSE, "kind": "exec-storm"}),
        ("explained", {**CAUSE, "process": None}),
        ("explained", {**CAUSE, "process": {"name": HOG, "pid": 7}}),
    ],
)
def test_anything_else_is_wrong(verdict: str, cause: dict[str, Any] | None) -> None:
    assert not pinned_hog.named_by({"verdict": verdict, "cause": cause}, 142)


@pytest.mark.parametrize(
    ("zombies_seen", "below", "there", "right"),
    [(24, 24, 24, True), (0, 0, 0, True), (0, 0, 24, False), (24, 0, 24, False), (30, 24, 24, False)],
)
def test_scan_counts_what_the_kernel_counts(zombies_seen: int, below: int, there: int, right: bool) -> None:
    seen = {"zombies": zombies_seen, "by_parent": [{"path": "/leaky", "zombies": below}]}
    assert zombies.right(seen, there) is right


@pytest.mark.parametrize(
    ("there", "release", "made"),
    [(24, "6.1.0-50-cloud-arm64", True), (0, "6.12.1", False), (0, "7.2.13+deb14-cloud-amd64", True)],
)
def test_a_kernel_that_keeps_cgroups_must_have_kept_them(there: int, release: str, made: bool) -> None:
    assert zombies.made(there, release) is made
