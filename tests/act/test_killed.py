"""A SIGKILL at every write of the journal, of every plan type: the node is as before or as planned after resuming, the
journal says which, and undoing brings back what was before."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from necroscope.act import carry_out as carrying
from necroscope.act.attempt import stand
from necroscope.act.carry_out import carry_out
from necroscope.act.journal import Journal, read_journal, synced_write
from necroscope.act.resume import resume, unfinished
from necroscope.act.state_folder import StateFolder
from necroscope.act.take_back import undo
from necroscope.vocabulary.plan import FixReport, Plan, StepReport
from stage.acted_node import World, in_a_child, node_of
from stage.plans import WORLDS, planned

MOMENTS = ("before", "torn", "after")
_MOST = 40


def heard(_: StepReport) -> None:
    pass


def dying(number: int, moment: str) -> Callable[[int, bytes], None]:
    """A write that kills its own process at the given one: before it, in the middle of it, or when it is on disk."""
    left = [number]

    def write(fd: int, data: bytes) -> None:
        left[0] -= 1
        if left[0] == 0:
            if moment != "before":
                synced_write(fd, data[: len(data) // 2] if moment == "torn" else data)
            os.kill(os.getpid(), signal.SIGKILL)
        synced_write(fd, data)

    return write


def killed(monkeypatch: pytest.MonkeyPatch, number: int, moment: str, work: Callable[[], object]) -> bool:
    """Do it in a child that is killed at a write of its journal; False where there are fewer writes."""
    write = dying(number, moment)
    with monkeypatch.context() as patch:
        patch.setattr(carrying, "Journal", lambda path: Journal(path, write))
        patch.setattr("necroscope.act.take_back.Journal", lambda path: Journal(path, write))
        status = in_a_child(work)
    assert status in (0, signal.SIGKILL), status
    return status == signal.SIGKILL


def carried_out(plan: Plan, world: World, folder: StateFolder) -> FixReport:
    return carry_out(plan, node_of(world), folder, heard)


def as_planned(action: str, path: Path) -> dict[str, object]:
    """How the node looks when nobody disturbs."""
    world, node, plan = planned(action, path)
    report = carry_out(plan, node, StateFolder(path.parent / "undisturbed"), heard)
    assert report.ending == ("open" if action == "reboot" else "applied")
    return _without_ids(world.seen(), plan.id)


def _without_ids(seen: dict[str, object], name: str) -> dict[str, object]:
    """Our own file bears the plan's id, also inside."""
    paths = seen["paths"]
    assert isinstance(paths, dict)
    known = {path.replace(name.removeprefix("fix-"), "ID"): state for path, state in paths.items()}
    return {**seen, "paths": {path: "ours" if "necroscope-ID" in path else state for path, state in known.items()}}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("action", WORLDS)
def test_a_kill_at_any_write_leaves_the_node_as_before_or_as_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: str, moment: str
) -> None:
    end = as_planned(action, tmp_path / "end.json")
    kills = 0
    for number in range(1, _MOST):
        world, node, plan = planned(action, tmp_path / f"{number}.json")
        before, folder = world.seen(), StateFolder(tmp_path / f"state-{number}")
        if not killed(monkeypatch, number, moment, partial(carried_out, plan, world, folder)):
            break
        kills += 1
        for _ in range(2 if action == "reboot" else 1):  # a reboot that is asked for is seen by the next resume
            for one in unfinished(folder):
                resume(one.plan, node, folder, heard)
        assert not unfinished(folder)
        after = world.seen()
        records = read_journal(folder.journal(plan.id)).records
        if not records:
            assert after == before
            continue
        told = stand(plan, records).ending
        assert told == "applied"
        assert _without_ids(after, plan.id) == end
        if plan.undoable:
            assert undo(plan.id, node, folder, heard).ending == "undone"
            if action != "free-zombies":
                assert world.seen() == before
    else:
        pytest.fail("it never ends")
    assert kills >= (2 if action == "reboot" else 3), "the plan, an intent, and an outcome where one is seen"


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(
    "action",
    sorted({*WORLDS} - {"reboot", "stop-process", "free-zombies", "remove-directories", "remove-leftover many"}),
)
def test_a_kill_at_any_write_of_an_undo_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: str, moment: str
) -> None:
    for number in range(1, _MOST):
        world, node, plan = planned(action, tmp_path / f"{number}.json")
        before, folder = world.seen(), StateFolder(tmp_path / f"state-{number}")
        assert carried_out(plan, world, folder).ending == "applied"
        if not killed(monkeypatch, number, moment, partial(undo, plan.id, node_of(world), folder, heard)):
            assert world.seen() == before
            return
        for one in unfinished(folder):
            resume(one.plan, node, folder, heard)
        if stand(plan, read_journal(folder.journal(plan.id)).records).ending == "applied":
            undo(plan.id, node, folder, heard)
        assert world.seen() == before
    pytest.fail("it never ends")


@pytest.mark.parametrize("action", ["disable-unit", "neutralise-unit", "stop-container"])
def test_what_was_interrupted_and_expired_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    for number in range(2, _MOST):
        world, node, plan = planned(action, tmp_path / f"{number}.json")
        before, folder = world.seen(), StateFolder(tmp_path / f"state-{number}")
        if not killed(monkeypatch, number, "after", partial(carried_out, plan, world, folder)):
            return
        world.change("boot", boot="another")
        for one in unfinished(folder):
            assert resume(one.plan, node, folder, heard).ending in ("failed-and-undone", "applied")
        world.change("boot", boot=before["boot"])
        told = stand(plan, read_journal(folder.journal(plan.id)).records).ending
        assert told == "applied" or world.seen() == before
    pytest.fail("it never ends")
