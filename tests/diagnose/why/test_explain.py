"""Verdicts about made-up incidents of which everything is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.clock import NS, iso
from necroscope.diagnose.why import explain
from necroscope.diagnose.why.weigh import HALF_TOLD
from necroscope.model import ProcessUse, Subject
from necroscope.verdict import Verdict
from stage.incident import NET_RX, ODD, SEND, SMAPS, Played, at, nic_reset, zombie_incident


def _claims(verdict: Verdict) -> dict[str, str]:
    return {one.kind: one.claim + " | " + "; ".join(each.text for each in one.evidence) for one in verdict.chain}


def test_the_leaker_is_blamed_and_not_the_walker(tmp_path: Path) -> None:
    verdict = explain(zombie_incident().write(tmp_path))
    assert verdict.verdict == "explained"
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.cpu) == ("zombie-memcg", 2)
    assert verdict.cause.subject == Subject("unit", "sunny-orchid.service")
    assert verdict.cause.process is not None
    assert (verdict.cause.process.name, verdict.cause.process.pid) == ("quiet-harbor", 900)
    assert verdict.cause.confidence >= 0.85
    claims = _claims(verdict)
    assert list(claims) == [
        "symptom",
        "starved-core",
        "victim",
        "walker",
        "mechanism",
        "grew",
        "leak-source",
        "why-it-runs",
    ]
    assert "core 2 was taken for 7.0 s" in claims["starved-core"]
    assert "victim (pid 501) waited 5.5 s" in claims["victim"]
    assert "20,000" in claims["grew"]
    assert "7 of 7 cgroups" in claims["leak-source"]
    assert "7 of 7 starts and ends have a leak" in claims["leak-source"]
    assert "never exited successfully" in claims["why-it-runs"]
    assert any(one.action == "disable-unit" and one.subject == "sunny-orchid.service" for one in verdict.remedies)
    assert verdict.growth is not None
    assert verdict.growth.restarts_of == "sunny-orchid.service"
    assert verdict.strip is not None
    assert verdict.strip.cpu == 2


def test_a_recording_that_still_goes_on_tells_the_same(tmp_path: Path) -> None:
    sealed, live = (zombie_incident().write(tmp_path / name, live=name == "live") for name in ("sealed", "live"))
    assert explain(live).cause == explain(sealed).cause
    assert explain(live).chain == explain(sealed).chain


def test_every_standing_rival_is_told_with_numbers(tmp_path: Path) -> None:
    verdict = explain(zombie_incident().write(tmp_path))
    told = {one.hypothesis: one for one in verdict.rejected}
    standing = {"page-faults", "huge-pages", "allocator", "cpu-affinity", "interrupt-affinity"}
    standing |= {"nic-or-hardware", "steal", "cpu-quota", "reclaim"}
    assert standing <= set(told)
    assert all(one.evidence or not one.tested for one in told.values())
    assert "0 % of the core" in told["steal"].because


def test_names_decide_nothing(tmp_path: Path) -> None:
    node = zombie_incident()
    node.work = [
        one if one.comm != "quiet-harbor" else type(one)(**{**one.__dict__, "comm": "zz-9", "cgroup": "/x/y"})
        for one in node.work
    ]
    verdict = explain(node.write(tmp_path))
    assert verdict.cause is not None
    assert verdict.cause.subject == Subject("unit", "sunny-orchid.service")
    assert verdict.cause.process is not None
    assert verdict.cause.process.name == "zz-9"


def test_without_anybody_to_own_the_leak_the_subject_is_left_open(tmp_path: Path) -> None:
    node = zombie_incident()
    node.events = [one for one in node.events if not one.kind.startswith(("cgroup-", "unit-"))]
    node.units = []
    verdict = explain(node.write(tmp_path))
    assert verdict.verdict == "partly-explained"
    assert verdict.cause is not None
    assert verdict.cause.subject is None
    assert verdict.cause.confidence <= HALF_TOLD
    assert any(one.what.startswith("who leaks") for one in verdict.missing)


def test_a_reader_of_smaps_in_a_unit_is_the_units(tmp_path: Path) -> None:
    node = Played()
    node.usual()
    node.does(1, 50, 56, 1.0, "reader", 77, frames=SMAPS, mode="system", cgroup="/system.slice/tall-elm.service")
    nic_reset(node, 59)
    verdict = explain(node.write(tmp_path))
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.subject) == ("smaps-walk", Subject("unit", "tall-elm.service"))


def test_a_program_that_shares_the_core_for_a_moment_is_not_blamed(tmp_path: Path) -> None:
    node = Played()
    node.usual()
    node.does(3, 50, 53, 0.75, "old-lamp", 77)
    nic_reset(node, 58)
    assert explain(node.write(tmp_path)).cause is None


def test_a_process_without_a_unit_is_named_itself(tmp_path: Path) -> None:
    node = Played()
    node.does(3, 50, 56, 0.98, "old-lamp", 77)
    node.usual()
    node.uses.append((57, ProcessUse(503, 1, "steady", "/", 0.1, 0.0, 5.0, 1 << 20, 3)))
    nic_reset(node, 58)
    verdict = explain(node.write(tmp_path))
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.subject, verdict.cause.cpu) == (
        "user-hog",
        Subject("process", "old-lamp"),
        3,
    )


def test_what_no_mechanism_knows_is_still_named(tmp_path: Path) -> None:
    node = Played()
    node.usual()
    node.does(0, 50, 57, 1.0, "old-lamp", 77, frames=ODD, mode="system")
    nic_reset(node, 58)
    verdict = explain(node.write(tmp_path))
    assert verdict.verdict == "partly-explained"
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.subject) == ("unknown-mechanism", Subject("process", "old-lamp"))
    assert "very_own_loop" in _claims(verdict)["walker"]


def test_who_is_always_there_is_not_the_cause_of_what_is_rare(tmp_path: Path) -> None:
    node = Played(4, 200)
    node.usual()
    for begin in range(3, 195, 12):
        node.does(1, begin, begin + 7, 0.99, "regular", 88)
    nic_reset(node, 130)
    verdict = explain(node.write(tmp_path))
    assert verdict.verdict == "unexplained"
    assert verdict.cause is None
    assert any(one.hypothesis == "process regular" and "always there" in one.because for one in verdict.rejected)


def test_no_starved_core_is_unexplained_and_said(tmp_path: Path) -> None:
    node = Played()
    node.usual()
    nic_reset(node, 60)
    verdict = explain(node.write(tmp_path))
    assert (verdict.verdict, verdict.cause) == ("unexplained", None)
    assert [one.hypothesis for one in verdict.rejected] == ["starved-core"]


def test_no_symptom(tmp_path: Path) -> None:
    node = Played(2, 30)
    node.usual()
    node.happens(10, "job-started", "job 7 started", source="mark")
    node.happens(12, "oom-kill", "job invoked oom-killer")
    assert explain(node.write(tmp_path)).verdict == "no-symptom"


def test_a_hole_before_the_symptom_is_named(tmp_path: Path) -> None:
    node = Played(4, 90)
    node.usual()
    node.does(1, 20, 28, 1.0, "decoy", 88, frames=SMAPS, mode="system")
    node.hole = 40, 62
    text = "nothing was recorded from 2026-01-02T03:04:45.000Z to 2026-01-02T03:05:07.000Z (22.0 s): it was stopped"
    node.happens(40, "recorder-gap", text, "recorder", "recorder")
    nic_reset(node, 60)
    verdict = explain(node.write(tmp_path))
    assert (verdict.verdict, verdict.cause) == ("unexplained", None)
    assert any("nothing was recorded" in one.what for one in verdict.missing)


def test_a_hole_that_nobody_tells_of_is_seen(tmp_path: Path) -> None:
    node = Played(4, 90)
    node.usual()
    node.does(1, 20, 28, 1.0, "decoy", 88, frames=SMAPS, mode="system")
    node.hole = 40, 80
    nic_reset(node, 60)
    verdict = explain(node.write(tmp_path))
    assert verdict.cause is None
    assert any("counters were not read" in one.what for one in verdict.missing)


def test_a_flood_of_packets_is_its_senders_where_one_stands_out(tmp_path: Path) -> None:
    node = Played()
    node.usual()
    node.does(1, 50, 57, 1.0, "victim", 77, frames=NET_RX, mode="softirq", cgroup="/victim")
    node.does(0, 50, 57, 0.7, "shouter", 78, frames=SEND, mode="system", cgroup="/loud")
    nic_reset(node, 60)
    verdict = explain(node.write(tmp_path))
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.cpu) == ("softirq-flood", 1)
    assert verdict.cause.subject == Subject("process", "shouter")


def test_a_flood_that_leaves_the_core_a_little_time(tmp_path: Path) -> None:
    node = Played()
    node.usual()
    node.does(1, 50, 56, 0.6, "victim", 77, frames=NET_RX, mode="softirq", cgroup="/victim")
    node.does(0, 50, 56, 0.5, "shouter", 78, frames=SEND, mode="system", cgroup="/loud")
    nic_reset(node, 59)
    verdict = explain(node.write(tmp_path))
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.cpu) == ("softirq-flood", 1)
    assert verdict.cause.subject == Subject("process", "shouter")
    assert "core 1 was 85 % busy for 6.0 s" in _claims(verdict)["starved-core"]


def test_a_flood_from_elsewhere_blames_nobody_here(tmp_path: Path) -> None:
    node = Played()
    node.usual()
    node.does(1, 50, 57, 1.0, "victim", 77, frames=NET_RX, mode="softirq", cgroup="/victim")
    nic_reset(node, 60)
    verdict = explain(node.write(tmp_path))
    assert verdict.verdict == "partly-explained"
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.subject) == ("softirq-flood", None)


def test_the_core_that_the_message_names_counts(tmp_path: Path) -> None:
    node = Played()
    node.usual()
    node.does(1, 50, 57, 1.0, "one", 77, frames=SMAPS, mode="system")
    node.does(2, 50, 57, 1.0, "two", 78, frames=SMAPS, mode="system")
    nic_reset(node, 60, cpu=2)
    verdict = explain(node.write(tmp_path))
    assert verdict.cause is not None
    assert (verdict.cause.cpu, verdict.cause.process and verdict.cause.process.name) == (2, "two")


def test_two_that_suit_alike_are_too_many(tmp_path: Path) -> None:
    node = Played()
    node.usual()
    node.does(1, 50, 57, 1.0, "one", 77, frames=SMAPS, mode="system", cgroup="/one")
    node.does(2, 50, 57, 1.0, "two", 78, frames=ODD, mode="system", cgroup="/two")
    nic_reset(node, 60)
    verdict = explain(node.write(tmp_path))
    assert (verdict.verdict, verdict.cause) == ("unexplained", None)
    assert any(one.what.startswith("certainty") for one in verdict.missing)


def test_profiles_without_counters_are_enough_for_who(tmp_path: Path) -> None:
    node = Played()
    node.counted = False
    node.usual()
    node.does(1, 50, 57, 1.0, "reader", 77, frames=SMAPS, mode="system")
    nic_reset(node, 60)
    verdict = explain(node.write(tmp_path))
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.cpu) == ("smaps-walk", 1)
    assert any("counters" in one.what for one in verdict.missing)


def test_at_a_moment_and_an_event(tmp_path: Path) -> None:
    node = zombie_incident()
    node.happens(85, "job-failed", "job 4711 failed", "4711", "mark")
    store = node.write(tmp_path)
    assert explain(store, at_ns=at(71)).symptom.kind == "nic-reset"  # type: ignore[union-attr]
    by_kind = explain(store, event="job-failed")
    assert by_kind.symptom is not None
    assert by_kind.symptom.at_ns == at(85)
    assert explain(store, event=by_kind.symptom.id or 0).symptom == by_kind.symptom


@pytest.mark.parametrize("delay", [0, 5, 20])
def test_symptoms_come_late(tmp_path: Path, delay: int) -> None:
    node = Played(4, 120)
    node.usual()
    node.does(1, 50, 57, 1.0, "reader", 77, frames=SMAPS, mode="system")
    nic_reset(node, 57 + delay)
    verdict = explain(node.write(tmp_path))
    assert verdict.cause is not None
    assert verdict.cause.kind == "smaps-walk"
    assert verdict.window is not None
    assert abs(verdict.window[0] - at(50)) < NS


def test_few_samples_on_a_busy_core_mean_interrupts_off(tmp_path: Path) -> None:
    node = Played()
    node.usual()
    node.work = [one for one in node.work if one.cpu != 1]
    node.does(1, 50, 57, 1.0, "reader", 77, frames=SMAPS, mode="system", sampled=0.1)
    nic_reset(node, 60)
    verdict = explain(node.write(tmp_path))
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.cpu) == ("smaps-walk", 1)
    assert verdict.cause.confidence < 0.8
    assert "10 % of the time could be sampled: interrupts were off" in _claims(verdict)["walker"]


def test_a_hypervisor_that_takes_the_core_is_nobody_here(tmp_path: Path) -> None:
    node = Played()
    node.usual()
    node.does(1, 50, 57, 0.75, "", 0, mode="steal", sampled=0.0)
    nic_reset(node, 60)
    verdict = explain(node.write(tmp_path))
    assert verdict.cause is None
    assert "steal" not in {one.hypothesis for one in verdict.rejected}
    assert "the hypervisor took 75 % of the core" in _claims(verdict)["not-ruled-out"]


def test_a_queue_that_nobody_mapped_to_a_core_is_missing(tmp_path: Path) -> None:
    node = Played()
    node.usual()
    node.does(1, 50, 57, 1.0, "reader", 77, frames=SMAPS, mode="system")
    nic_reset(node, 60)
    told = [one.what for one in explain(node.write(tmp_path / "queue")).missing]
    assert any("queue 1" in what for what in told)
    node.events = []
    nic_reset(node, 60, cpu=1)
    told = [one.what for one in explain(node.write(tmp_path / "named")).missing]
    assert not any("queue 1" in what for what in told)


def test_counters_without_samples_show_the_core_and_nobody_on_it(tmp_path: Path) -> None:
    node = Played()
    node.does(1, 50, 57, 1.0, "unseen", 77, mode="system", sampled=0.0)
    nic_reset(node, 60)
    verdict = explain(node.write(tmp_path))
    assert (verdict.verdict, verdict.cause) == ("unexplained", None)
    assert "core 1 was taken for 7.0 s" in _claims(verdict)["starved-core"]
    assert any(one.what == "who was on core 1: it has no samples" for one in verdict.missing)


def _hog(share: float, before: float = 0.0) -> Played:
    """A short recording: one computes on a core twice, the other is there all along, and waits meanwhile."""
    node = Played(2, 40)
    node.does(1, 0, 40, 0.2, "victim", 50)
    node.does(1, 0, 40, 0.02 + before, "hog", 60)
    for begin in (16, 26):
        node.does(1, begin, begin + 1, 0.5, "hog", 60)
        node.does(1, begin + 1, begin + 4, share, "hog", 60)
        node.does(1, begin + 4, begin + 6, min(share, 0.74), "hog", 60)
        node.happens(begin + 3, "stall", "victim did not run for 0.9 s: stalled", source="mark")
        nic_reset(node, begin + 7)
    node.uses = [(33, ProcessUse(50, 1, "victim", "/", 0.1, 0.0, 4.5, 1, 1))]
    return node


def test_what_it_did_before_another_symptom_is_not_what_is_usual_for_it(tmp_path: Path) -> None:
    verdict = explain(_hog(0.9).write(tmp_path))
    assert verdict.cause is not None
    assert (verdict.cause.kind, verdict.cause.subject) == ("user-hog", Subject("process", "hog"))
    assert "it took 2 %" in _claims(verdict)["walker"]


def test_one_that_fairly_shares_the_core_all_along_is_not_blamed(tmp_path: Path) -> None:
    verdict = explain(_hog(0.3, before=0.48).write(tmp_path))
    assert verdict.cause is None


@pytest.mark.parametrize("seconds", [3, 5, 7])
def test_who_may_have_been_it_is_told_where_nobody_is_named(tmp_path: Path, seconds: int) -> None:
    node = Played(2, 100)
    node.usual()
    node.does(1, 60 - 2 * seconds, 60 - seconds, 1.0, "first", 77, frames=SMAPS, mode="system")
    node.does(1, 60 - seconds, 60, 1.0, "second", 78, frames=ODD, mode="system")
    nic_reset(node, 61)
    verdict = explain(node.write(tmp_path))
    assert verdict.cause is None
    told = _claims(verdict)["not-ruled-out"]
    assert told.startswith("it may have been ")
    assert "first (pid 77) took " in told
    assert "second (pid 78) took " in told
    assert not {"process first", "process second"} & {one.hypothesis for one in verdict.rejected}


def test_time_near_the_symptom_that_was_not_recorded_is_told_once(tmp_path: Path) -> None:
    node = Played(2, 90)
    node.usual()
    node.does(1, 60, 67, 1.0, "reader", 77, frames=SMAPS, mode="system")
    gap = f"no samples were taken from {iso(at(40))} to {iso(at(44))} (4.0 s): perf ended by itself"
    node.happens(44, "recorder-gap", gap, "perf", "recorder")
    nic_reset(node, 69)
    verdict = explain(node.write(tmp_path))
    assert verdict.cause is not None
    assert [one.what for one in verdict.missing].count(gap) == 1
