"""What may not begin, what fails on the way, and what nobody can tell."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from necroscope.act.carry_out import carry_out
from necroscope.act.node.doors import Node
from necroscope.act.resume import resume, unfinished
from necroscope.act.state_folder import StateFolder
from necroscope.act.take_back import undo
from necroscope.errors import BadInput, Refused
from necroscope.vocabulary.plan import FixReport, Plan, StepReport
from stage.acted_node import World, node_of
from stage.plans import CACHED, GONE, UNIT, WANTS, planned

HEARD: list[StepReport] = []


def apply(plan: Plan, node: Node, folder: StateFolder, again: bool = False) -> FixReport:
    return carry_out(plan, node, folder, HEARD.append, again)


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path / "state")


def _changed(world: World, **values: Any) -> None:
    """Somebody else changes the node."""
    now = world.read()
    for name, value in values.items():
        now[name] = {**now[name], **value} if isinstance(now[name], dict) else value
    world.path.write_text(json.dumps(now))


MEANWHILE: list[tuple[str, dict[str, Any], str]] = [
    ("disable-unit", {"boot": "another"}, "before this boot"),
    ("disable-unit", {"unit_files": {f"/usr/lib/systemd/system/{UNIT}": "[Service]\n"}}, "were changed"),
    ("disable-unit", {"unit_files": {f"/run/systemd/system/{UNIT}.d/10-x.conf": "[Service]\n"}}, "were changed"),
    ("disable-unit", {"paths": {WANTS: "link /elsewhere"}}, "has changed"),
    ("stop-unit", {"units": {UNIT: {"name": UNIT, "active_state": "active", "invocation": "cd"}}}, "started anew"),
    ("stop-process", {"processes": {"4711": {"pid": 4711, "start_ticks": 100, "name": "holder"}}}, "is another by now"),
    ("remove-leftover", {"identities": {GONE: "0:23:6"}}, "is another file by now"),
    ("remove-leftover", {"users": {"0:23:5": 9}}, "is in use by process 9"),
    ("free-zombies", {"identities": {"/sys/fs/cgroup/memory/agents": "0:30:99"}}, "is another file by now"),
]  # fmt: skip


@pytest.mark.parametrize(("action", "meanwhile", "said"), MEANWHILE, ids=[f"{one[0]}-{one[2]}" for one in MEANWHILE])
def test_a_node_that_has_changed_is_left_alone(
    tmp_path: Path, folder: StateFolder, action: str, meanwhile: dict[str, Any], said: str
) -> None:
    world, node, plan = planned(action, tmp_path / "node.json")
    _changed(world, **meanwhile)
    before = world.seen()
    with pytest.raises(Refused, match=said):
        apply(plan, node, folder)
    assert world.seen() == before
    assert folder.begun() == []


def test_an_automatic_restart_is_no_other_run(tmp_path: Path, folder: StateFolder) -> None:
    world, node, plan = planned("stop-unit", tmp_path / "node.json")
    _changed(world, units={UNIT: {"name": UNIT, "active_state": "active", "invocation": "cd", "restarts": 8}})
    assert apply(plan, node, folder).ending == "applied"


def test_a_container_of_the_same_name_is_another(tmp_path: Path, folder: StateFolder) -> None:
    world, node, plan = planned("stop-container", tmp_path / "node.json")
    known = world.read()["containers"]["leaky"]
    _changed(world, containers={"leaky": {**known, "id": "d" * 64}})
    with pytest.raises(Refused, match="is another by now"):
        apply(plan, node, folder)


def test_a_file_that_became_another_keeps_its_cache(tmp_path: Path, folder: StateFolder) -> None:
    world, node, plan = planned("free-zombies", tmp_path / "node.json")
    _changed(world, identities={CACHED: "8:1:99"})
    report = apply(plan, node, folder)
    assert report.steps[0].note.startswith("dropped 0")


def test_of_many_leftovers_those_that_changed_are_kept(tmp_path: Path, folder: StateFolder) -> None:
    world, node, plan = planned("remove-leftover many", tmp_path / "node.json")
    _changed(world, identities={f"{GONE}-3": "0:23:999"}, users={"0:23:4": 77})
    assert apply(plan, node, folder).steps[0].note == "removed 38 files; 2 are gone, in use or others by now"
    assert sorted(world.read()["paths"]) == [f"{GONE}-3", f"{GONE}-4"]


def test_a_plan_expires_and_is_not_carried_out_twice(tmp_path: Path, folder: StateFolder) -> None:
    _, node, plan = planned("disable-unit", tmp_path / "node.json")
    with pytest.raises(Refused, match="expired"):
        apply(replace(plan, expires_ns=plan.made_ns - 1), node, folder)
    assert apply(plan, node, folder).ending == "applied"
    with pytest.raises(Refused, match="carried out already"):
        apply(plan, node, folder, again=True)


def test_a_second_attempt_on_the_same_subject_needs_a_word(tmp_path: Path, folder: StateFolder) -> None:
    _, node, plan = planned("disable-unit", tmp_path / "node.json")
    apply(plan, node, folder)
    undo(plan.id, node, folder, HEARD.append)
    second = replace(plan, id="fix-00000002")
    with pytest.raises(Refused, match="acted on already in this boot"):
        apply(second, node, folder)
    assert apply(second, node, folder, again=True).ending == "applied"


def test_a_second_boot_is_a_new_attempt(tmp_path: Path, folder: StateFolder) -> None:
    _, node, plan = planned("stop-container", tmp_path / "node.json")
    apply(plan, node, folder)
    world, node, plan = planned("stop-container", tmp_path / "later.json", boot="another")
    assert world.read()["boot"] == plan.boot_id == "another"
    assert apply(plan, node, folder).ending == "applied"


def test_two_at_once_are_locked_out(tmp_path: Path, folder: StateFolder) -> None:
    world, node, plan = planned("disable-unit", tmp_path / "node.json")
    before = world.seen()
    with folder.locked():
        for work in (lambda: apply(plan, node, folder), lambda: undo(plan.id, node, folder, HEARD.append)):
            with pytest.raises(Refused, match="Another fix is at work"):
                work()
    assert world.seen() == before
    assert apply(plan, node, folder).ending == "applied"


@pytest.mark.parametrize("broken", ["set " + WANTS, "reload", "stop leaky.timer", "stop leaky.service"])
def test_what_fails_before_it_did_anything_is_undone_whole(tmp_path: Path, folder: StateFolder, broken: str) -> None:
    world, node, plan = planned("disable-unit", tmp_path / "node.json", breaks=[f"before:{broken}"])
    before = world.seen()
    report = apply(plan, node, folder)
    assert "fails" in report.because
    if broken == "reload":  # which undoing needs, too: that is told
        assert report.ending == "partly-undone"
        assert world.read()["paths"] == before["paths"]
    else:
        assert report.ending == "failed-and-undone"
        assert world.seen() == before


def test_a_call_that_complains_after_it_did_its_work_has_done_it(tmp_path: Path, folder: StateFolder) -> None:
    _, node, plan = planned("disable-unit", tmp_path / "node.json", breaks=["after:stop leaky.service"])
    report = apply(plan, node, folder)
    assert report.ending == "applied"
    assert "fails late" in report.steps[-1].note


class _Odd:
    """Paths that end up as nobody wanted them."""

    def __init__(self, world: World, node: Node) -> None:
        self._world, self._paths = world, node.paths

    def state(self, path: str) -> str:
        return self._paths.state(path)

    def tidy(self, path: str) -> None:
        pass

    def set(self, path: str, state: str) -> None:
        _changed(self._world, paths={path: "link /somewhere/else"})


def test_an_outcome_that_is_neither_stops_everything_until_a_person_has_looked(
    tmp_path: Path, folder: StateFolder
) -> None:
    world, node, plan = planned("disable-unit", tmp_path / "node.json")
    odd = replace(node, paths=_Odd(world, node))
    report = apply(plan, odd, folder)
    assert report.ending == "in-doubt"
    assert [one.outcome for one in report.steps[:2]] == ["unknown", None]
    _, other, another = planned("stop-container", tmp_path / "other.json")
    with pytest.raises(Refused, match="begun and is not finished"):
        apply(another, other, folder)
    (left,) = unfinished(folder)
    assert resume(left.plan, node, folder, HEARD.append).ending == "in-doubt"
    with pytest.raises(Refused, match="changed since by somebody else"):
        undo(plan.id, node, folder, HEARD.append)
    _changed(world, paths={plan.steps[0].target: plan.steps[0].before})
    assert resume(plan, node, folder, HEARD.append).ending == "applied"


def test_what_our_own_reload_stopped_is_started_again(tmp_path: Path, folder: StateFolder) -> None:
    """A crash-looping unit ends by itself as soon as it is neutralised: that was us, and is undone as well."""
    world, node, plan = planned("neutralise-unit", tmp_path / "node.json")
    before = world.seen()
    reload = node.units.reload

    def ended() -> None:
        reload()
        _changed(world, units={UNIT: {**world.read()["units"][UNIT], "active_state": "inactive"}})

    node.units.reload = ended  # type: ignore[method-assign]
    assert apply(plan, node, folder).steps[-1].outcome == "done"
    assert undo(plan.id, node_of(world), folder, HEARD.append).ending == "undone"
    assert world.seen() == before


def test_undo_leaves_alone_what_somebody_changed(tmp_path: Path, folder: StateFolder) -> None:
    world, node, plan = planned("neutralise-unit", tmp_path / "node.json")
    apply(plan, node, folder)
    ours = plan.steps[1].target
    _changed(world, paths={ours: plan.steps[1].after + "AA"})
    before = world.seen()
    with pytest.raises(Refused, match="was changed since by somebody else"):
        undo(plan.id, node, folder, HEARD.append)
    assert world.seen() == before


def test_what_cannot_be_undone_is_not_called_undone(tmp_path: Path, folder: StateFolder) -> None:
    _, node, plan = planned("remove-leftover many", tmp_path / "node.json")
    apply(plan, node, folder)
    with pytest.raises(Refused, match="leaves nothing to put back"):
        undo(plan.id, node, folder, HEARD.append)
    _, node, plan = planned("remove-leftover", tmp_path / "other.json")
    large = replace(plan, steps=(replace(plan.steps[0], undoable=False), *plan.steps[1:]))
    _, other, mixed = planned("disable-unit", tmp_path / "mixed.json")
    mixed = replace(mixed, steps=(replace(mixed.steps[0], undoable=False), *mixed.steps[1:]))
    apply(large, node, folder)
    apply(mixed, other, folder)
    with pytest.raises(Refused, match="leaves nothing"):
        undo(large.id, node, folder, HEARD.append)
    report = undo(mixed.id, other, folder, HEARD.append)
    assert report.ending == "partly-undone"
    assert [one.undone for one in report.steps] == [False, *(True for _ in mixed.steps[1:])]


def test_undo_of_what_was_never_done(tmp_path: Path, folder: StateFolder) -> None:
    _, node, _ = planned("neutralise-unit", tmp_path / "node.json")
    with pytest.raises(BadInput, match="no plan fix-12345678"):
        undo("fix-12345678", node, folder, HEARD.append)
    with pytest.raises(BadInput, match="is no id"):
        undo("../../etc/passwd", node, folder, HEARD.append)


def test_a_journal_that_was_tampered_with_stops_everything(tmp_path: Path, folder: StateFolder) -> None:
    _, node, plan = planned("disable-unit", tmp_path / "node.json")
    apply(plan, node, folder)
    path = folder.journal(plan.id)
    path.write_bytes(path.read_bytes().replace(b'"outcome":"done"', b'"outcome":"fail"', 1))
    with pytest.raises(Refused, match="is damaged at line"):
        undo(plan.id, node, folder, HEARD.append)
    _, other, another = planned("stop-container", tmp_path / "other.json")
    with pytest.raises(Refused, match="is damaged at line"):
        apply(another, other, folder)


def test_a_state_folder_that_others_may_change_is_not_used(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    _, node, plan = planned("disable-unit", tmp_path / "node.json")
    with pytest.raises(Refused, match="may be changed by others"):
        apply(plan, node, StateFolder(open_to_all / "state"))
