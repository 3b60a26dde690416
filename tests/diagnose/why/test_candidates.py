"""Starved cores with who was on them, the best first."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.config import Config
from necroscope.diagnose.why.candidates import Candidate, candidates
from necroscope.diagnose.why.scene import Held, look_around, span_of
from necroscope.model import ProcessUse
from necroscope.store.tables import Event
from necroscope.verdict import Complaint
from stage.incident import SMAPS, Played, at, nic_reset


def _candidates(node: Played, folder: Path, second: float, text: str = "x") -> list[Candidate]:
    held = Held(node.write(folder))
    recorded = span_of(held.snapshot())
    assert recorded is not None
    return candidates(look_around(held, Complaint("nic-reset", at(second), "kmsg", text), recorded, Config()))


def _who(found: list[Candidate]) -> list[str]:
    return [one.suspect.name for one in found if one.suspect is not None]


def test_the_kernel_before_programs_and_the_near_before_the_far(tmp_path: Path) -> None:
    node = Played(4, 120)
    node.usual()
    node.does(0, 60, 66, 1.0, "computes", 1, cgroup="/c")
    node.does(1, 60, 66, 1.0, "walks", 2, frames=SMAPS, mode="system", cgroup="/w")
    node.does(2, 30, 36, 1.0, "walked", 3, frames=SMAPS, mode="system", cgroup="/x")
    nic_reset(node, 70)
    found = _candidates(node, tmp_path, 70)
    assert _who(found) == ["walks", "computes", "walked"]
    assert found[0].score > 1.5 * found[1].score > 2 * found[2].score


@pytest.mark.parametrize(("begin", "there"), [(66, True), (68, True), (70, False), (71, False)])
def test_what_begins_with_the_symptom_or_after_it_did_not_cause_it(tmp_path: Path, begin: int, there: bool) -> None:
    node = Played(2, 90)
    node.usual()
    node.does(0, begin, begin + 6, 1.0, "walks", 1, frames=SMAPS, mode="system", cgroup="/w")
    nic_reset(node, 70.5)
    assert _who(_candidates(node, tmp_path, 70.5)) == (["walks"] if there else [])


@pytest.mark.parametrize(("waited", "there"), [(4.6, True), (0.4, False), (None, False)])
def test_a_core_that_is_not_quite_full_counts_where_somebody_waited(
    tmp_path: Path, waited: float | None, there: bool
) -> None:
    node = Played(2, 90)
    node.does(0, 60, 65, 0.95, "forks", 1, frames=SMAPS, mode="system", cgroup="/f")
    node.uses.append((69, ProcessUse(501, 1, "victim", "/", 0.1, 0.0, waited, 1 << 20, 0)))
    assert _who(_candidates(node, tmp_path, 67)) == (["forks"] if there else [])


def test_a_short_full_time_long_before_does_not_hide_a_long_one_that_is_nearly_full(tmp_path: Path) -> None:
    node = Played(2, 90)
    node.does(0, 40, 42.5, 1.0, "starts", 1, cgroup="/s")
    node.does(0, 60, 68, 0.95, "walks", 2, frames=SMAPS, mode="system", cgroup="/w")
    node.uses.append((69, ProcessUse(501, 1, "victim", "/", 0.1, 0.0, 7.0, 1 << 20, 0)))
    assert _who(_candidates(node, tmp_path, 68.5))[0] == "walks"


@pytest.mark.parametrize(("pid", "begin", "there"), [(314, 22, False), (315, 22, True), (314, 40, True)])
def test_the_recorders_own_start_is_no_suspect(tmp_path: Path, pid: int, begin: int, there: bool) -> None:
    node = Played(2, 60)
    node.usual()
    started = f"pid 314, boot {'0' * 8}-0000-0000-0000-{'0' * 12}"
    node.events.append(Event(at(20), "recorder-started", "recorder", "recorder", started))
    node.does(0, begin, begin + 4, 1.0, "necroscope", pid, frames=SMAPS, mode="system", cgroup="/n")
    assert _who(_candidates(node, tmp_path, begin + 5)) == (["necroscope"] if there else [])


def test_a_core_for_which_nobody_waited_suits_less(tmp_path: Path) -> None:
    node = Played(2, 90)
    node.usual()
    node.does(0, 60, 66, 1.0, "hog", 1, cgroup="/c")
    node.does(1, 58, 69, 1.0, "batch", 2, frames=SMAPS, mode="system", cgroup="/b")
    assert _who(_candidates(node, tmp_path / "unknown", 70))[0] == "batch"
    for cpu, waited in ((0, 5.5), (1, 0.1)):
        node.uses.append((69, ProcessUse(501 + cpu, 1, f"victim{cpu}", "/", 0.1, 0.0, waited, 1 << 20, cpu)))
    found = _candidates(node, tmp_path / "known", 70)
    assert _who(found) == ["hog", "batch"]


def test_what_the_message_names_wins(tmp_path: Path) -> None:
    node = Played(2, 90)
    node.usual()
    node.does(0, 60, 66, 1.0, "computes", 1, cgroup="/c")
    node.does(1, 60, 66, 1.0, "walks", 2, frames=SMAPS, mode="system", cgroup="/w")
    assert _who(_candidates(node, tmp_path, 70, "napi CPU: 0."))[0] == "computes"


@pytest.mark.parametrize(("number", "together"), [(2, False), (10, True)])
def test_many_of_a_cgroup_are_one_suspect_and_a_few_are_not(tmp_path: Path, number: int, together: bool) -> None:
    node = Played(2, 90)
    for place in range(number):
        node.does(0, 60, 66, 1.0 / number, f"p{place}", 10 + place, frames=SMAPS, mode="system", cgroup="/same")
    nic_reset(node, 70)
    suspect = _candidates(node, tmp_path, 70)[0].suspect
    assert suspect is not None
    assert suspect.cgroup == "/same"
    assert (suspect.share > 0.9, len(suspect.pids)) == (together, number if together else 1)


def test_somebody_who_takes_a_core_that_is_busy_all_along(tmp_path: Path) -> None:
    node = Played(1, 120)
    for number in range(6):
        node.does(0, 0, 60, 0.17, f"crowd{number}", 10 + number, cgroup=f"/crowd{number}")
        node.does(0, 67, 120, 0.17, f"crowd{number}", 10 + number, cgroup=f"/crowd{number}")
    node.does(0, 60, 67, 0.9, "taker", 2, cgroup="/t")
    node.does(0, 60, 67, 0.1, "crowd0", 10, cgroup="/crowd0")
    nic_reset(node, 70)
    best = _candidates(node, tmp_path, 70)[0]
    assert best.suspect is not None
    assert best.suspect.name == "taker"
    assert best.run.seconds == pytest.approx(7.0, abs=1.1)
    assert best.suspect.share > 0.75


def test_a_cgroup_whose_processes_take_turns(tmp_path: Path) -> None:
    node = Played(1, 90)
    node.usual()
    for number in range(20):
        node.does(0, 60, 67, 0.0375, f"turn{number}", 100 + number, cgroup="/turns", frames=SMAPS, mode="system")
    best = _candidates(node, tmp_path, 70)[0]
    assert best.suspect is not None
    assert (best.suspect.cgroup, len(best.suspect.pids)) == ("/turns", 20)
    assert best.suspect.share == pytest.approx(0.75, abs=0.1)


def test_of_the_same_again_the_last_time_before_the_symptom_leads(tmp_path: Path) -> None:
    """A log whose times are uncertain: what came after the symptom may have caused it, but rather what came before."""
    node = Played(2, 120)
    node.usual()
    for begin in (40, 60, 73):
        node.does(1, begin, begin + 6, 1.0, "walks", 2, frames=SMAPS, mode="system", cgroup="/w")
    held = Held(node.write(tmp_path))
    recorded = span_of(held.snapshot())
    assert recorded is not None
    symptom = Complaint("nic-reset", at(70), "kmsg", "x", uncertainty_ns=14 * NS)
    found = candidates(look_around(held, symptom, recorded, Config()))
    assert (found[0].run.from_ns - at(0)) // NS == 60
    assert {(one.run.from_ns - at(0)) // NS for one in found} == {40, 60, 73}
