"""The same state of a node never has two leakers: not one in a scan of it, and another in its recording."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from necroscope.diagnose.leak import attribute, facts_of_scan, source
from necroscope.vocabulary.model import ContainerState, Subject, UnitState
from stage.leaking_node import LeakingNode, Maker, Zombie

_ENGINE = "/system.slice/engine.service"


def _id(number: int) -> str:
    return random.Random(number).randbytes(32).hex()


def _unit(name: str, group: str, restarts: int) -> UnitState:
    return UnitState(name, "activating", "auto-restart", "exit-code", restarts, control_group=group)


def _subjects(node: LeakingNode, folder: Path) -> tuple[Subject | None, Subject | None]:
    scanned = source(attribute(facts_of_scan(node.census(), node.units, node.containers)))
    recorded = source(attribute(node.recorded(folder)))
    return scanned.subject if scanned else None, recorded.subject if recorded else None


_KINDS = (
    "own",
    "jobs",
    "allocs",
    "container",
    "past-ids",
    "inside",
    "unknown-ids",
    "scope",
    "process",
    "same",
    "nested",
)


@st.composite
def _leakers(draw: st.DrawFn) -> tuple[str, int, int, bool, bool]:
    """What kind, which of its kind, how many, whether systemd knows it, whether it lives."""
    return (
        draw(st.sampled_from(_KINDS)),
        draw(st.integers(0, 2)),
        draw(st.one_of(st.integers(1, 12), st.integers(13, 90))),
        draw(st.booleans()),
        draw(st.booleans()),
    )


@st.composite
def nodes(draw: st.DrawFn) -> LeakingNode:
    """Leakers of every kind, mixed: one after the other or all at once, seen in part or not at all."""
    leakers = draw(st.lists(_leakers(), min_size=1, max_size=4))
    zombies: list[Zombie] = []
    live = {"/", "/system.slice", "/docker", "/batch"} if draw(st.booleans()) else {"/"}
    units: dict[str, UnitState] = {}
    containers: dict[str, ContainerState] = {}
    restarts: dict[tuple[str, str], int] = {}
    for place, (kind, which, number, known, lives) in enumerate(leakers):
        name = f"{kind}-{which}"
        group = f"/system.slice/{name}.service" if kind != "nested" else f"/lab/system.slice/{name}.service"
        identity = _id(which + 100 * _KINDS.index(kind))
        maker = Maker(700 + 10 * place + which, f"maker-{which}", draw(st.sampled_from(["/tools", _ENGINE, group])))
        paths = {
            "own": [group] * number,
            "nested": [group] * number,
            "jobs": [f"{group}/jobs/job-{n}" for n in range(number)],
            "allocs": [f"{group}/alloc-{_id(n)}/task" for n in range(number)],
            "container": [f"/docker/{identity}"] * number,
            "past-ids": [f"/docker/{_id(1000 * (which + 1) + n)}" for n in range(number)],
            "inside": [f"{group}/libpod-payload-{identity}"] * number,
            "unknown-ids": [f"/docker/{_id(50_000 * (which + 1) + n)}" for n in range(number)],
            "scope": [f"/system.slice/{name}.scope"] * number,
            "process": [f"/batch/{name}-job{n}" for n in range(number)],
            "same": [f"/batch/{name}/worker"] * number,
        }[kind]
        ordered = kind in ("own", "nested", "container", "past-ids", "inside", "unknown-ids", "scope")
        by = None if ordered and draw(st.booleans()) else maker
        zombies += [Zombie(path, by) for path in paths]
        if kind in ("own", "jobs", "allocs", "inside", "nested"):
            live |= {group, f"{group}/jobs"} if lives else set()
            if known:
                units[name] = _unit(f"{name}.service", group, draw(st.sampled_from([0, 1, number])))
                restarts["unit-restart", f"{name}.service"] = draw(st.sampled_from([1, number]))
        if kind in ("container", "past-ids", "inside") and known:
            ids = tuple(path.rpartition("/")[2] for path in paths) if kind == "past-ids" else (identity,)
            containers[name] = ContainerState(
                "docker", ids[-1], name, "img", "running", number, deaths=len(ids), past_ids=ids[:-1]
            )
            restarts["container-restart", name] = draw(st.sampled_from([1, number]))
    if draw(st.booleans()):
        random.Random(draw(st.integers(0, 9))).shuffle(zombies)
    return LeakingNode(
        tuple(zombies),
        tuple(live),
        tuple(units.values()),
        tuple(containers.values()),
        draw(st.integers(0, min(len(zombies), 40))),
        tuple((kind, name, number) for (kind, name), number in restarts.items()),
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(nodes())
def test_the_same_state_never_has_two_leakers(node: LeakingNode) -> None:
    with tempfile.TemporaryDirectory() as folder:
        scanned, recorded = _subjects(node, Path(folder))
    assert scanned is None or recorded is None or scanned == recorded, (scanned, recorded, node.names.most_common(6))


_POOL = Maker(42, "pool", "/pool")


@pytest.mark.parametrize(
    ("zombies", "seen", "scanned", "recorded"),
    [
        # A crash-looping unit: both name it.
        ([Zombie("/system.slice/leaky.service")] * 40, 9, "leaky.service", "leaky.service"),
        # Jobs below a unit that never restarts: both name the unit.
        ([Zombie(f"/system.slice/batch.service/jobs/job-{n}") for n in range(80)], 9, "batch.service", "batch.service"),
        # Who made them is seen in the recording only.
        ([Zombie(f"/batch/job{n}", _POOL) for n in range(80)], 9, None, "pool"),
        # A container that is started anew.
        ([Zombie(f"/docker/{_id(7)}")] * 40, 9, "web", "web"),
        # The leaker of now is not the one who left what has accumulated.
        (
            [*[Zombie("/system.slice/leaky.service")] * 90, *(Zombie(f"/batch/job{n}", _POOL) for n in range(6))],
            6,
            "leaky.service",
            "leaky.service",
        ),
        # Two side by side: nobody.
        (
            [Zombie(f"/system.slice/{name}.service") for name in ("leaky", "other")] * 30,
            10,
            None,
            None,
        ),
    ],
)
def test_what_a_scan_and_a_recording_name(
    zombies: list[Zombie], seen: int, scanned: str | None, recorded: str | None, tmp_path: Path
) -> None:
    units = (
        _unit("leaky.service", "/system.slice/leaky.service", 40),
        _unit("batch.service", "/system.slice/batch.service", 0),
    )
    web = ContainerState("docker", _id(7), "web", "img", "running", restarts=40)
    node = LeakingNode(tuple(zombies), ("/", "/system.slice", "/docker", "/batch"), units, (web,), seen)
    found = _subjects(node, tmp_path)
    assert tuple(one.name if one is not None else None for one in found) == (scanned, recorded)
