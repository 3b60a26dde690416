"""Every answer of `validate`, from recordings of both sides of a change; each with a near miss."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.config import Config, ZombieLimits
from necroscope.errors import BadInput
from necroscope.explain.validate import validate
from necroscope.query.validation.windows import change_of, latest_change
from necroscope.vocabulary.conclusions.validation import Answer, Change, Question, Validation
from necroscope.vocabulary.model import Subject
from stage.changed_node import LEAKER, ChangedNode
from stage.incident import at


def validated(node: ChangedNode, folder: Path, for_s: float = 50.0, config: Config | None = None) -> Validation:
    return validate(node.write(folder / "store"), Change(at(node.change_s), "stopped"), for_s, config)


def outcomes(found: Validation) -> tuple[str, str, str]:
    growth, symptoms, residue = (one.outcome for one in found.answers)
    return growth, symptoms, residue


def said(answer: Answer) -> str:
    return "; ".join((answer.claim, *(one.text for one in answer.evidence), answer.needs))


def told(found: Validation, question: Question) -> str:
    return said(found.answer(question))


def test_a_leak_that_was_stopped(tmp_path: Path) -> None:
    found = validated(ChangedNode(), tmp_path)
    assert (found.outcome, outcomes(found)) == ("pass", ("pass", "pass", "pass"))
    assert found.leaker == Subject("unit", LEAKER)
    words = told(found, "growth")
    assert "the growth stopped, and so did the restarts" in words
    assert "130 zombies, then 130 40 s later (0 an hour)" in words
    assert "0 times in 45 s after" in words
    assert f"unit {LEAKER} left 23 behind before, 0 after" in words
    assert "130 zombies are left, too few to matter" in told(found, "residue")
    assert "they do not grow: 10,000 are not reached at this rate" in told(found, "residue")


def test_a_leak_that_goes_on_while_the_symptom_is_gone(tmp_path: Path) -> None:
    """The walker was killed: no symptom any more, and its cause is where it was."""
    node = ChangedNode(leaks_until=120)
    for moment in (10, 22, 34, 46, 58):
        node.happens(moment, "nic-reset", subject="eth0", text="ena: reset", device="eth0")
    found = validated(node, tmp_path)
    assert (found.outcome, outcomes(found)) == ("fail", ("fail", "pass", "pass"))
    assert found.healed_only
    words = told(found, "growth")
    assert f"the leak goes on: unit {LEAKER} still leaves cgroups behind" in words
    assert f"cgroups of unit {LEAKER} were removed and never released" in words
    assert f"{LEAKER} restarted" in words


def test_a_leak_that_somebody_else_takes_over(tmp_path: Path) -> None:
    other = ChangedNode(name="other.service", leaks_from=66, leaks_until=120, zombies=130, marked=False)
    node = ChangedNode()
    node.events += [one for one in _events(other) if one.kind.startswith(("cgroup", "unit"))]
    found = validated(node, tmp_path)
    assert found.answer("growth").outcome == "fail"
    assert "zombies grow: unit other.service leaves cgroups behind" in told(found, "growth")


def _events(node: ChangedNode) -> list:  # type: ignore[type-arg]
    node._lives()
    return node.events


def test_growth_too_slow_to_see_in_the_window_is_inconclusive(tmp_path: Path) -> None:
    found = validated(ChangedNode(every_s=20.0), tmp_path)
    assert found.answer("growth").outcome == "inconclusive"
    assert "nothing grew, in a time in which little would have come anyway" in told(found, "growth")
    assert found.answer("growth").needs == "look for 50 s at least: `--for 65s`"


def test_nothing_wrong_before_or_after_passes(tmp_path: Path) -> None:
    found = validated(ChangedNode(leaks_until=0), tmp_path)
    assert outcomes(found) == ("pass", "pass", "pass")
    assert "nothing grew, before or after" in told(found, "growth")


def test_restarts_without_a_leak(tmp_path: Path) -> None:
    stopped = validated(ChangedNode(restarts_only=True), tmp_path / "a")
    going_on = validated(ChangedNode(restarts_only=True, leaks_until=120), tmp_path / "b")
    assert stopped.answer("growth").outcome == "pass"
    assert "the restarts stopped; nothing leaked" in told(stopped, "growth")
    assert going_on.answer("growth").outcome == "fail"
    assert "units or containers still restart over and over" in told(going_on, "growth")


def test_a_change_that_makes_something_restart_fails(tmp_path: Path) -> None:
    node = ChangedNode(restarts_only=True, leaks_from=64, leaks_until=120)
    found = validated(node, tmp_path)
    assert found.answer("growth").outcome == "fail"
    assert ", and did not before" in told(found, "growth")


# -- blind ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "question", "words"),
    [
        (ChangedNode(looks_until=60), "growth", "zombies were not counted twice after the change"),
        (ChangedNode(looks_until=60), "residue", "zombies were not counted after the change"),
        (ChangedNode(cores_until=80), "symptoms", "the cores' counters tell about"),
        (ChangedNode(systemd_until=60), "growth", "systemd was not asked after the change"),
        (ChangedNode(change_s=0.5, leaks_until=0), "growth", "what was before the change was not recorded"),
    ],
)
def test_blind_is_inconclusive_and_never_a_pass(
    node: ChangedNode, question: Question, words: str, tmp_path: Path
) -> None:
    found = validated(node, tmp_path)
    assert found.answer(question).outcome == "inconclusive"
    assert words in told(found, question)
    assert found.outcome == "inconclusive"


def test_a_kernel_log_that_nobody_read_is_blind(tmp_path: Path) -> None:
    node = ChangedNode()
    node.happens(1, "sensor-blind", "recorder", subject="kmsg", text="may not be read")
    assert validated(node, tmp_path / "a").answer("symptoms").outcome == "inconclusive"
    node = ChangedNode()
    node.happens(1, "sensor-blind", "recorder", subject="kmsg", text="may not be read")
    node.happens(30, "sensor-sees", "recorder", subject="kmsg")
    assert validated(node, tmp_path / "b").answer("symptoms").outcome == "pass"


def test_what_fails_fails_also_where_somebody_is_blind(tmp_path: Path) -> None:
    found = validated(ChangedNode(leaks_until=120, cores_until=80), tmp_path)
    assert (found.outcome, found.answer("symptoms").outcome) == ("fail", "inconclusive")


# -- symptoms -----------------------------------------------------------------------------------------------------


def test_a_symptom_after_the_change_fails(tmp_path: Path) -> None:
    node = ChangedNode()
    node.happens(30, "nic-reset", subject="eth0", text="ena: reset", device="eth0")
    node.happens(90, "soft-lockup", text="watchdog: BUG", cpu=1)
    found = validated(node, tmp_path)
    assert found.answer("symptoms").outcome == "fail"
    assert "soft-lockup" in told(found, "symptoms")
    assert "a kind that did not come before" in told(found, "symptoms")


def test_symptoms_too_rare_for_the_window_are_inconclusive(tmp_path: Path) -> None:
    node = ChangedNode()
    node.happens(30, "nic-reset", subject="eth0", text="ena: reset", device="eth0")
    found = validated(node, tmp_path)
    assert (found.outcome, found.answer("symptoms").outcome) == ("inconclusive", "inconclusive")
    assert (
        found.answer("symptoms").needs == "look for 3 min at least: `--for 3m`"
        or "--for" in found.answer("symptoms").needs
    )


def test_symptoms_that_came_often_and_are_gone(tmp_path: Path) -> None:
    node = ChangedNode()
    for moment in (10, 22, 34, 46, 58):
        node.happens(moment, "nic-reset", subject="eth0", text="ena: reset", device="eth0")
        node.happens(moment + 1, "nic-tx-timeout", subject="eth0", text="the same incident", device="eth0")
    found = validated(node, tmp_path)
    assert found.answer("symptoms").outcome == "pass"
    assert "5 symptoms in the 1 min before the change" in told(found, "symptoms")


def test_jobs_that_succeed_are_told_and_those_that_fail_are_symptoms(tmp_path: Path) -> None:
    node = ChangedNode()
    for moment in (5, 15, 25, 35, 45, 55):
        node.happens(moment, "job-failed", "mark", subject="4711", text="job 4711 failed")
    node.happens(80, "job-succeeded", "mark", subject="4712", text="job 4712 succeeded")
    found = validated(node, tmp_path / "a")
    assert found.answer("symptoms").outcome == "pass"
    assert "jobs that failed: 5 before, 0 after; that succeeded: 0 before, 1 after" in told(found, "symptoms")
    node = ChangedNode()
    node.happens(80, "job-failed", "mark", subject="4712", text="job 4712 failed")
    assert validated(node, tmp_path / "b").answer("symptoms").outcome == "fail"


@pytest.mark.parametrize(("after", "outcome"), [(0.5, "fail"), (0.05, "pass")])
def test_what_became_much_worse_fails(after: float, outcome: str, tmp_path: Path) -> None:
    found = validated(ChangedNode(counters={"throttle_throttled_seconds": (0.02, after)}), tmp_path)
    assert found.answer("symptoms").outcome == outcome
    (measure,) = found.measures
    assert (measure.name, measure.worse) == ("stopped by CPU quotas", outcome == "fail")
    assert measure.after == pytest.approx(after, rel=0.05)


# -- what is left, boots -------------------------------------------------------------------------------------------


def test_so_many_that_they_matter_fail(tmp_path: Path) -> None:
    found = validated(ChangedNode(zombies=20_000), tmp_path / "a")
    assert (found.outcome, outcomes(found)) == ("fail", ("pass", "pass", "fail"))
    assert "20,030 zombies are left, and matter now" in told(found, "residue")
    few = Config(zombies=ZombieLimits(critical=131))
    assert validated(ChangedNode(), tmp_path / "b", config=few).answer("residue").outcome == "pass"


def test_when_the_rest_will_matter(tmp_path: Path) -> None:
    found = validated(ChangedNode(leaks_until=120), tmp_path)
    assert "at the rate of after the change, 10,000 are reached in 5 h" in told(found, "residue")


@pytest.mark.parametrize(("until", "outcome"), [(120, "fail"), (60, "pass")])
def test_a_reboot_frees_and_only_proves_something_if_it_does_not_grow_again(
    until: float, outcome: str, tmp_path: Path
) -> None:
    node = ChangedNode(zombies=5000, begins_anew_s=65, leaks_until=until)
    node.happens(65, "boot", "recorder", boot="b")
    found = validated(node, tmp_path)
    assert found.facts.booted_ns == at(65)
    assert found.answer("growth").outcome == outcome
    words = told(found, "growth")
    if outcome == "fail":
        assert "the reboot freed what had accumulated, and it grows again" in words
    else:
        assert "the node rebooted: 5,030 zombies before, 0 after it" in words


# -- which change ----------------------------------------------------------------------------------------------------


def test_a_mark_is_found_by_kind_by_words_and_as_the_latest_change(tmp_path: Path) -> None:
    node = ChangedNode()
    node.happens(40, "mark", "mark", text="Huge Pages off")
    node.happens(50, "job-failed", "mark", text="job")
    snapshot = node.write(tmp_path / "store").snapshot()
    assert change_of(snapshot, "huge pages") == Change(at(40), "mark: Huge Pages off")
    assert change_of(snapshot, "change") == Change(at(60), "change")
    assert change_of(snapshot, "hu") is None
    assert change_of(snapshot, "nothing of this") is None
    assert latest_change(snapshot) == Change(at(60), "change: stopped the unit")


def test_a_recording_that_ends_before_the_change_is_refused(tmp_path: Path) -> None:
    store = ChangedNode().write(tmp_path / "store")
    with pytest.raises(BadInput, match="before the change"):
        validate(store, Change(at(500), ""), 50)


def test_a_first_look_is_no_growth(tmp_path: Path) -> None:
    """Near miss: the zombies of the change itself, and two that come and go."""
    node = ChangedNode(leaks_until=64)
    found = validated(node, tmp_path)
    assert found.answer("growth").outcome == "pass", told(found, "growth")
