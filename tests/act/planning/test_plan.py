"""Which subjects are refused, and what a verdict or a finding leads to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from necroscope.act.planning.draft import Draft
from necroscope.act.planning.plan import follow_ups, of_finding, of_verdict, plan
from necroscope.act.planning.protected import class_of
from necroscope.errors import BadInput, Refused
from necroscope.vocabulary.model import Finding, Subject
from necroscope.vocabulary.verdict import Cause, Remedy, Verdict
from stage.acted_node import acted_node
from stage.plans import ETC, GONE, UNIT, WORLDS, planned

ON = {"active_state": "active", "invocation": "ab"}


def ask(path: Path, action: str, *subjects: str, **known: Any) -> None:
    _, node = acted_node(path / "node.json", **known)
    plan(Draft(node, action), subjects)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("systemd-journald.service", "the system"),
        ("sshd.service", "a way to log in"),
        ("user@1000.service", "a way to log in"),
        ("necroscope.service", "the recorder"),
        ("kubelet.service", "the container runtime or its node agent"),
        ("NetworkManager.service", "the network"),
        ("data.mount", "storage"),
        ("session-4.scope", "the system"),
        ("node-agent.service", ""),
        ("acme-sshd-exporter.service", ""),
    ],
)
def test_classes_of_protected_units(name: str, what: str) -> None:
    assert class_of(name) == what


def test_protection_is_a_closure(tmp_path: Path) -> None:
    base = {"name": "base.service", **ON, "stops_too": ["middle.service"]}
    middle = {"name": "middle.service", **ON, "stops_too": ["NetworkManager.service"]}
    network = {"name": "NetworkManager.service", **ON}
    units = {"base.service": base, "middle.service": middle, "NetworkManager.service": network}
    with pytest.raises(Refused, match=r"Stopping base\.service would stop NetworkManager\.service, which is protected"):
        ask(tmp_path, "stop-unit", "base.service", units=units)
    ask(tmp_path, "stop-unit", "base.service", units={**units, "middle.service": {**middle, "stops_too": []}})


def test_an_alias_is_protected_as_well(tmp_path: Path) -> None:
    units = {"acme.service": {"name": "acme.service", "names": ["acme.service", "sshd.service"], **ON}}
    for name in ("acme.service", "sshd.service"):
        with pytest.raises(Refused, match="protected"):
            ask(tmp_path, "stop-unit", name, units=units)


def test_where_the_caller_is_from_is_protected(tmp_path: Path) -> None:
    callers = [{"pid": 9, "start_ticks": 1, "name": "sh", "cgroups": ["/system.slice/acme-shell.service/x"]}]
    units = {"acme-shell.service": {"name": "acme-shell.service", **ON}}
    with pytest.raises(Refused, match="the way by which you are here"):
        ask(tmp_path, "stop-unit", "acme-shell.service", units=units, callers=callers)
    ask(tmp_path, "stop-unit", "acme-shell.service", units=units)


def test_a_trigger_is_protected_as_well(tmp_path: Path) -> None:
    units = {
        UNIT: {"name": UNIT, **ON, "triggered_by": ["systemd-tick.timer"]},
        "systemd-tick.timer": {"name": "systemd-tick.timer", **ON},
    }
    with pytest.raises(Refused, match=r"Systemd-tick\.timer is protected"):
        ask(tmp_path, "disable-unit", UNIT, units=units, paths=WORLDS["disable-unit"]["paths"])


@pytest.mark.parametrize(
    ("action", "name", "error", "said"),
    [
        ("stop-unit", "nowhere.service", BadInput, "no unit nowhere.service"),
        ("stop-unit", "a b;reboot", BadInput, "no name of a unit"),
        ("stop-unit", "../../x", BadInput, "no name of a unit"),
        ("stop-container", "nobody", BadInput, "knows a container"),
        ("stop-process", "abc", BadInput, "no pid"),
        ("stop-process", "1", BadInput, "no process 1"),
        ("free-zombies", "relative", BadInput, "no path of a cgroup"),
        ("free-zombies", "/a/../b", BadInput, "no path of a cgroup"),
        ("free-zombies", "/nothing", Refused, "no zombie memory cgroups below"),
        ("remove-leftover", "/dev/shm/absent", BadInput, "no file"),
        ("remove-directories", "/nothing", BadInput, "no memory cgroup"),
    ],
)
def test_subjects_that_are_none(tmp_path: Path, action: str, name: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        ask(tmp_path, action, name)


def test_an_action_takes_one_subject(tmp_path: Path) -> None:
    for subjects in ((), ("a", "b")):
        with pytest.raises(BadInput, match="needs UNIT"):
            ask(tmp_path, "stop-unit", *subjects)


def test_what_cannot_be_masked_is_neutralised_and_the_reverse(tmp_path: Path) -> None:
    unit = {UNIT: {"name": UNIT, **ON}}
    with pytest.raises(Refused, match="cannot be masked") as refused:
        ask(tmp_path, "mask-unit", UNIT, units=unit, paths={ETC: "link /opt/leaky.service"})
    assert refused.value.hint == f"necroscope fix neutralise-unit {UNIT}"
    with pytest.raises(Refused, match="can be masked"):
        ask(tmp_path, "neutralise-unit", UNIT, units=unit)


def test_a_container_that_somebody_would_start_again_is_refused(tmp_path: Path) -> None:
    one = {**WORLDS["stop-container"]["containers"]["leaky"], "started_by": "unit web.service"}
    with pytest.raises(Refused, match="started again by unit") as refused:
        ask(tmp_path, "stop-container", "leaky", containers={"leaky": one})
    assert refused.value.hint == "necroscope fix disable-unit web.service"


def test_the_container_that_one_is_in_is_refused(tmp_path: Path) -> None:
    one = WORLDS["stop-container"]["containers"]["leaky"]
    callers = [{"pid": 9, "start_ticks": 1, "name": "sh", "cgroups": [f"/docker/{one['id']}"]}]
    with pytest.raises(Refused, match="you are in it"):
        ask(tmp_path, "stop-container", "leaky", containers={"leaky": one}, callers=callers)


@pytest.mark.parametrize(
    ("process", "said"),
    [
        ({"pid": 7, "start_ticks": 1, "name": "kworker", "kernel": True}, "protected: the system"),
        ({"pid": 7, "start_ticks": 1, "name": "x", "cgroups": ["/system.slice/a.service"]}, "belongs to a.service"),
        ({"pid": 7, "start_ticks": 1, "name": "x", "cgroups": ["/docker/0123"]}, "runs in a container"),
    ],
)
def test_processes_that_others_manage(tmp_path: Path, process: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        ask(tmp_path, "stop-process", "7", processes={"7": process})


def test_a_process_of_another_name_is_not_the_one_meant(tmp_path: Path) -> None:
    process = {"7": {"pid": 7, "start_ticks": 1, "name": "x", "cgroups": ["/user"]}}
    with pytest.raises(Refused, match="is x, not leaker"):
        ask(tmp_path, "stop-process", "7/leaker", processes=process)
    ask(tmp_path, "stop-process", "7/x", processes=process)


# -- zombies -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "why"), [("tmpfs", "only copy"), ("anon", "moved out"), ("kernel", "kernel memory")])
def test_zombies_that_cannot_be_reclaimed_are_never_reclaimed_by_force(tmp_path: Path, kind: str, why: str) -> None:
    zombies = [[f"/agents/a{number}", [kind], []] for number in range(3)]
    with pytest.raises(Refused, match=f"3 zombies pinned by .*{why}"):
        ask(tmp_path, "free-zombies", "/agents", zombies=zombies, identities={"/sys/fs/cgroup/memory/agents": "0:1:2"})


def test_one_that_cannot_be_reclaimed_keeps_the_others_from_reclaim_but_not_from_fadvise(tmp_path: Path) -> None:
    mixed = [*WORLDS["free-zombies"]["zombies"], ["/agents/t", ["page-cache", "tmpfs"], []]]
    _, _, made = planned("free-zombies", tmp_path / "node.json", zombies=mixed)
    assert [step.kind for step in made.steps] == ["drop-cache"]
    assert "hold a core" in made.notes[-1]
    _, _, pure = planned("free-zombies", tmp_path / "node.json")
    assert [step.kind for step in pure.steps] == ["drop-cache", "reclaim"]


def test_only_files_that_are_who_they_were_are_touched(tmp_path: Path) -> None:
    _, _, made = planned("free-zombies", tmp_path / "node.json")
    assert made.steps[0].items == (("/var/lib/x/cached", "8:1:77"),)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"identities": {GONE: "0:23:6"}}, "pins no zombie"),
        ({"zombies": []}, "pins no zombie"),
        ({"users": {"0:23:5": 812}}, "in use by process 812"),
        ({"paths": {GONE: "folder 0755 0 0"}}, "no regular file"),
    ],
)
def test_a_leftover_must_be_seen_to_pin_and_be_used_by_nobody(tmp_path: Path, known: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        planned("remove-leftover", tmp_path / "node.json", **known)


def test_many_leftovers_are_one_step_that_cannot_be_undone(tmp_path: Path) -> None:
    _, _, made = planned("remove-leftover many", tmp_path / "node.json")
    (step,) = made.steps
    assert (step.kind, len(step.items), step.undoable) == ("remove-files", 40, False)
    assert "cannot be undone" in made.notes[0]
    assert step.shows[-1] == "and 28 more (--json lists all)"
    with pytest.raises(Refused, match="pins no zombie"):
        planned("remove-leftover many", tmp_path / "node.json", identities={f"{GONE}-7": "0:23:99"})


# -- from what was found -------------------------------------------------------------------------------------

CAUSE = Cause("zombie-memcg", Subject("unit", UNIT), None, 3, 0.9)
STOP = Remedy("disable-unit", UNIT, f"necroscope fix disable-unit -- {UNIT}")
FREE = Remedy("free-zombies", "", "necroscope fix free-zombies -- /a", purges_existing=True)


def test_a_verdict_leads_to_its_first_remedy_that_stops_the_cause() -> None:
    verdict = Verdict("explained", cause=CAUSE, remedies=(STOP, FREE))
    assert of_verdict(verdict) == ("disable-unit", UNIT)
    assert follow_ups(verdict) == ("necroscope fix free-zombies -- /a",)


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Verdict("unexplained"), "nobody to act on: the verdict is unexplained"),
        (Verdict("partly-explained", cause=CAUSE, remedies=(STOP,)), "partly-explained"),
        (Verdict("explained", cause=Cause("hog", None, None, 1, 0.9), remedies=(STOP,)), "nobody is named"),
        (Verdict("explained", cause=CAUSE, remedies=(Remedy("find-unit", UNIT, "", "Find out."), FREE)), "Find out"),
        (Verdict("explained", cause=CAUSE, remedies=(FREE,)), "No remedy of this verdict is a change"),
    ],
)
def test_a_verdict_without_somebody_to_act_on_is_refused(verdict: Verdict, said: str) -> None:
    with pytest.raises(Refused, match=said):
        of_verdict(verdict)


def test_a_finding_leads_to_the_action_for_its_subject() -> None:
    found = [
        Finding("crash-loop", "warning", "t", Subject("unit", UNIT)),
        Finding("zombie-memcg", "warning", "t", Subject("cgroup", "/docker")),
        Finding("nic-reset", "warning", "t", Subject("device", "eth0"), remedies=("look",)),
    ]
    assert of_finding(found, "crash-loop") == ("disable-unit", UNIT)
    assert of_finding(found, "zombie-memcg") == ("free-zombies", "/docker")
    with pytest.raises(Refused, match="knows no change for that"):
        of_finding(found, "nic-reset")
    with pytest.raises(BadInput, match="finds no nonsense"):
        of_finding(found, "nonsense")
    with pytest.raises(BadInput, match="is found of 2 subjects"):
        of_finding([*found, Finding("crash-loop", "info", "t", Subject("container", "web"))], "crash-loop")
