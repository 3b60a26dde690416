"""What jobs call right."""

from __future__ import annotations

from typing import Any

import pytest
from guests.jobs import kill9, leak, pinned_hog, zombies
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


KINDS = zombies.expected("6.1.0-50-cloud-amd64", v2=True)
FILES = {"shm": ["/dev/shm/shm-0"], "log": ["/root/log-1"]}


def families(**changes: Any) -> list[dict[str, Any]]:
    """As `scan` shows them when all is right, but for what a kind is changed to."""
    return [
        {
            "pattern": f"/leaky/{kind}-<n>",
            "zombies": count,
            "newest": [f"/leaky/{kind}-{number}" for number in range(count)],
            "pins": [{"kind": pin, "files": FILES.get(kind, [])}],
            **changes.get(kind, {}),
        }
        for kind, (count, pin) in KINDS.items()
    ]


def looked(counted: int = 26, below: int = 26, **changes: Any) -> list[str]:
    by_parent = [{"path": "/leaky", "zombies": below}]
    seen = {"zombies": counted, "by_parent": by_parent, "families": families(**changes)}
    return [*zombies.wrongs(seen, 26, KINDS)]


def test_all_is_right_when_every_kind_is_counted_named_and_told() -> None:
    assert looked() == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"counted": 25}, "26 were made, 26 are there, 25 were counted"),
        ({"below": 0}, "0 below their parent"),
        ({"shm": {"pins": [{"kind": "kernel", "files": []}]}}, "shm: pinned by tmpfs"),
        ({"shm": {"pins": []}}, "shm: pinned by tmpfs"),
        ({"moved": {"zombies": 5}}, "moved: 6 were made, 5 named"),
        ({"log": {"newest": ["/leaky/log-9"]}}, "log: 8 were made"),
        ({"log": {"pins": [{"kind": "page-cache", "files": []}]}}, "log: no file is named"),
        ({"socket": {"pattern": "/leaky/nothing-<n>"}}, "/leaky/nothing-<n> should not be there"),
    ],
)
def test_anything_that_was_not_seen_as_it_is_is_said(changes: dict[str, Any], said: str) -> None:
    assert any(said in one for one in looked(**changes))


@pytest.mark.parametrize(
    ("release", "v2", "kinds", "sockets"),
    [
        ("5.10.0-32-cloud-amd64", True, 4, "kernel"),
        ("6.12.107+deb13-cloud-amd64", True, 4, "unknown"),
        ("6.1.0-50-cloud-amd64", False, 4, "kernel"),
        ("7.2.13+deb14-cloud-amd64", True, 2, "unknown"),
    ],
)
def test_what_remains_goes_by_the_kernel(release: str, v2: bool, kinds: int, sockets: str) -> None:
    found = zombies.expected(release, v2)
    assert (len(found), found["socket"]) == (kinds, (4, sockets))


def test_only_a_hole_that_is_put_down_to_the_kill_counts() -> None:
    why = "nothing recorded for 8 s: the recorder ended without a clean shutdown"
    told = {"events": [{"text": why}, {"text": "nothing recorded for 2 s: the recorder was stopped"}, {"text": ""}]}
    assert kill9.gaps(told) == [why]


LEAK: dict[str, Any] = {
    "cgroups": {
        "memory": {
            "families": [{"pattern": "/leaky/shm-<n>", "zombies": 150}],
            "growth_basis": "measured",
            "growth_per_hour": 9000.0,
        }
    },
    "findings": [{"id": "zombie-memcg", "subject": {"kind": "cgroup", "name": "/leaky"}}],
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"growth_basis": "ages"},
        {"families": [{"pattern": "/leaky/shm-<n>", "zombies": 9}]},
        {"findings": [{"id": "zombie-memcg", "subject": {"kind": "cgroup", "name": "/"}}]},
        {"findings": []},
    ],
)
def test_a_leak_is_found_where_it_is_and_growing(changes: dict[str, Any]) -> None:
    memory = {**LEAK["cgroups"]["memory"], **changes}
    seen = {"cgroups": {"memory": memory}, "findings": changes.get("findings", LEAK["findings"])}
    assert leak.found(seen) is not bool(changes)
