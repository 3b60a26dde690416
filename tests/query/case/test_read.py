"""A case of a made-up node, and those of kept incidents."""

from __future__ import annotations

import functools
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from necroscope.clock import NS
from necroscope.config import Config
from necroscope.query import extent
from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.case.read import read_case
from necroscope.query.case.symptom import choose
from necroscope.query.case.wanted import Orders
from necroscope.store.read.reader import Store
from necroscope.vocabulary import case_file
from necroscope.vocabulary.case import (
    CALLERS_MOST,
    EVENTS_MOST,
    EVERYBODYS_STACKS_MOST,
    PIDS_MOST,
    QUOTAS_MOST,
    STACKS_MOST,
    SUSPECTS_MOST,
    WAITS_MOST,
    Case,
    Starvation,
    Suspect,
)
from necroscope.vocabulary.model import MODES
from necroscope.vocabulary.verdict import Complaint
from stage.incident import SMAPS, Played, at, nic_reset, zombie_incident
from stage.incidents import INCIDENTS, unpacked
from stage.reading import case, complaint, second_of

pytestmark = pytest.mark.slow

KEPT = sorted(INCIDENTS.glob("*.ncb"))
ORDERS = Orders(frozenset({"*sendmsg", "copy_process", "flush_tlb*"}), lambda line_up: True)


def test_everything_about_an_incident(tmp_path: Path) -> None:
    node = zombie_incident()
    node.happens(1, "recorder-started", "", "recorder", "recorder", pid=77)
    node.happens(66, "hardware-corrected", "x", "cpu1")
    node.happens(20, "recorder-gap", "", "perf", "recorder", from_ns=at(20), to_ns=at(21), reason="x")
    node.happens(5, "sensor-blind", "no bus", "systemd", "recorder")
    made = case(node.write(tmp_path), complaint(70, cpu=2))
    assert (made.counted, made.cores, made.covered, made.covered_close) == (True, 4, 1.0, 1.0)
    assert made.named is not None
    assert (made.named.cpu, made.named.said) == (2, True)
    (one,) = made.starvations
    assert (one.run.cpu, one.run.kind, one.run.seconds, one.whole) == (2, "held", 7.0, one.run)
    assert (one.line_up.suspects[0].name, one.line_up.suspects[0].pid) == ("quiet-harbor", 900)
    assert [(wait.name, wait.pid) for wait in one.waits] == [("victim", 501)]
    assert one.numbers["zombies"] == 20_000.0
    assert made.strip is None
    assert [start.pid for start in made.starts] == [77]
    assert [event.kind for event in made.hardware] == ["hardware-corrected"]
    assert [gap.subject for gap in made.gaps] == ["perf"]
    assert [blind.sensor for blind in made.blinds] == ["systemd"]
    assert made.leaks.zombies.left_total == 7
    assert made.boots[0].symptom_ns == at(70)
    assert (made.others, made.damaged, made.notes, made.kernel) == ((), (), (), "")
    assert made.busy_before == pytest.approx(0.25 + 0.75 * 7 / 45 / 4, abs=0.01)


def test_how_zombies_grew_since_each_boot(tmp_path: Path) -> None:
    node = zombie_incident()
    day = 86_400
    node.happens(-2 * day, "boot", "", "host", "recorder")
    node.happens(-3 * day, "boot", "no boot of this machine", "host", "mark")
    node.happens(-8 * day, "nic-reset", "an earlier one", "eth0")
    for hour in range(-240, 0, 8):
        grown = 80 * (hour + 240) if hour < -48 else 80 * (hour + 48)
        node.zombies.append((3600 * hour, "/system.slice", grown))
    first, second = case(node.write(tmp_path), complaint(70)).boots
    assert (first.first, first.last[1], first.per_hour) == ((at(-240 * 3600), 0), 80 * 184, 80.0)
    assert (first.symptom_ns, first.at_symptom) == (at(-8 * day), 80 * 48)
    assert (second.from_ns, second.symptom_ns) == (at(-2 * day), at(70))


def test_so_few_zombies_that_nobody_minds_have_no_boots(tmp_path: Path) -> None:
    node = zombie_incident()
    node.zombies = [(second, "/system.slice", 99) for second in (5, 15, 25)]
    assert case(node.write(tmp_path / "few"), complaint(70)).boots == ()
    node.zombies.append((35, "/system.slice", 100))
    assert len(case(node.write(tmp_path / "more"), complaint(70)).boots) == 1


def test_without_a_starved_core_the_busiest_one_is_shown(tmp_path: Path) -> None:
    node = Played(3, 90)
    node.usual()
    node.does(1, 55, 65, 0.5, "some", 9)
    store = node.write(tmp_path)
    made = case(store, complaint(70))
    assert made.starvations == ()
    assert made.strip is not None
    assert made.strip.cpu == 1
    named = case(store, complaint(70, cpu=2))
    assert named.strip is not None
    assert named.strip.cpu == 2


def test_the_other_symptoms_in_short(tmp_path: Path) -> None:
    node = Played(2, 400)
    node.usual()
    for number, begin in enumerate((40, 100, 160, 220, 280, 340, 343)):
        node.does(1, begin, begin + 3, 1.0, "one", 50 + number, frames=SMAPS, mode="system", cgroup="/one")
        nic_reset(node, begin + 5)
    node.uses.append((225, _waiter()))
    store = node.write(tmp_path)
    others = case(store, complaint(345)).others
    assert others is not None
    # 348 is too near to be another time; of six others, the five nearest.
    assert [second_of(one.symptom.at_ns) for one in others] == [285, 225, 165, 105, 45]
    assert all([each.run.kind for each in one.starvations] == ["held"] for one in others)
    (again,) = others[1].starvations
    assert [wait.name for wait in again.waits] == ["victim"]
    first = again.line_up.suspects[0]
    assert (first.name, first.before, first.stacks) == ("one", 0.0, ())
    assert (again.numbers, again.callers, again.strip, again.quotas) == ({}, None, None, ())
    assert case(store, complaint(345), others=False).others is None


def _waiter() -> Any:
    from necroscope.vocabulary.model import ProcessUse

    return ProcessUse(501, 1, "victim", "/", 0.1, 0.0, 2.5, 1 << 20, 1)


def test_the_recorders_own_start_stays_with_what_tells_of_it(tmp_path: Path) -> None:
    node = Played(2, 60)
    node.usual()
    node.happens(20, "recorder-started", "", "recorder", "recorder", pid=314)
    node.does(0, 22, 26, 1.0, "necroscope", 314, frames=SMAPS, mode="system", cgroup="/n")
    made = case(node.write(tmp_path), complaint(27))
    assert [one.line_up.suspects[0].pids for one in made.starvations] == [(314,)]
    assert [start.pid for start in made.starts] == [314]


@pytest.mark.parametrize("table", ["samples", "cores", "series"])
def test_damage_is_told_of(tmp_path: Path, table: str) -> None:
    store = zombie_incident().write(tmp_path)
    for segment in store.snapshot().segments:
        path = segment.file(table)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    made = case(store, complaint(70))
    assert table in made.damaged
    assert all(note.endswith("is damaged and left out") for note in made.notes)


# -- kept incidents ----------------------------------------------------------------------------------------


@functools.cache
def _kept(bundle: Path, folder: Path) -> Case:
    store = FixedStore(Store(unpacked(bundle, folder)))
    recorded = extent.recorded(store.snapshot())
    assert recorded is not None
    symptom = choose(store.snapshot(), recorded)
    assert symptom is not None
    return read_case(store, symptom, recorded, Config(), orders=ORDERS)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.mark.parametrize("bundle", KEPT, ids=lambda path: path.stem)
def test_a_kept_incident_stays_within_the_bounds(bundle: Path, folders: Path, tmp_path: Path) -> None:
    made = _kept(bundle, folders / bundle.stem)
    assert made.starvations
    every = [*made.starvations, *(each for one in made.others or () for each in one.starvations)]
    for one in every:
        _check(one)
    for listed in (made.gaps, made.starts, made.lost_ns, made.hardware):
        assert len(listed) <= EVENTS_MOST
    size = case_file.save(made, tmp_path / "case")
    assert size < 300_000
    assert case_file.load(tmp_path / "case") == made


def _check(one: Starvation) -> None:
    found = one.line_up
    assert len(found.suspects) <= SUSPECTS_MOST
    assert len(found.by_cgroup) <= SUSPECTS_MOST
    for suspect in (*found.suspects, *found.by_cgroup):
        _check_suspect(suspect, STACKS_MOST)
    if found.everybody is not None:
        _check_suspect(found.everybody, EVERYBODYS_STACKS_MOST)
        assert found.everybody.share == pytest.approx(found.sampled)
    assert len(one.waits) <= WAITS_MOST
    assert len(one.quotas) <= QUOTAS_MOST
    assert all(0 <= wait.seconds <= wait.known_s <= one.run.seconds + 1e-9 for wait in one.waits)
    assert len(one.run.shares) == len(MODES)
    assert sum(one.run.shares) == pytest.approx(1.0)
    assert one.whole.from_ns <= one.run.from_ns < one.run.to_ns <= one.whole.to_ns
    if one.callers is not None:
        assert len(one.callers.callers) <= CALLERS_MOST


def _check_suspect(suspect: Suspect, most: int) -> None:
    assert len(suspect.stacks) <= most
    assert len(suspect.pids) <= PIDS_MOST
    assert suspect.processes >= len(suspect.pids)
    if suspect.stacks:
        assert sum(stack.weight for stack in suspect.stacks) == pytest.approx(suspect.seconds)


@pytest.mark.parametrize("bundle", KEPT, ids=lambda path: path.stem)
def test_a_kept_incident_is_read_alike_without_a_word(
    bundle: Path, folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is said in sentences is there for people: no reading rests on it."""
    from necroscope.vocabulary import event

    before = _kept(bundle, folders / bundle.stem)
    whole = event.event_of

    def wordless(row: Any) -> event.Event:
        return replace(whole(row), text="")

    for module in ("necroscope.query.events.landmarks", "necroscope.query.case.symptom"):
        monkeypatch.setattr(f"{module}.event_of", wordless)
    store = FixedStore(Store(unpacked(bundle, tmp_path)))
    recorded = extent.recorded(store.snapshot())
    assert recorded is not None
    # Marks are the user's words: such a symptom is asked for by its kind.
    symptom = choose(store.snapshot(), recorded)
    assert symptom is not None
    after = read_case(store, symptom, recorded, Config(), orders=ORDERS)
    assert after.symptom.text != before.symptom.text
    if any(other.symptom.noticed for other in before.others or ()):
        before, after = replace(before, others=None), replace(after, others=None)
    assert _silent(after) == _silent(before)


def _silent(value: Any) -> Any:
    """Without sentences of events."""
    if isinstance(value, tuple):
        return tuple(_silent(one) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        given = {one.name: getattr(value, one.name) for one in fields(value)}
        return type(value), {name: _silent(one) for name, one in given.items() if name != "text"}
    return value


def test_a_moment_that_is_asked_about_reaches_as_far_as_any(tmp_path: Path) -> None:
    node = Played(2, 90)
    node.usual()
    made = case(node.write(tmp_path), Complaint("moment", at(60), "asked", "x"))
    assert made.lookback == (at(60) - 45 * NS, at(60) + 2 * NS)
