"""Which symptoms are asked about, when, and which are the same again."""

from __future__ import annotations

from dataclasses import replace

from necroscope.clock import NS
from necroscope.record.verdicts.waiting import PAUSE_S, SETTLE_S, Waiting
from necroscope.vocabulary.event import Event

RESET = Event(1_000 * NS, "nic-reset", "kmsg", "eth0", "reset", device="eth0")


def test_a_symptom_is_asked_about_when_its_data_are_there_and_once_more_later() -> None:
    waiting = Waiting(30.0)
    assert waiting.symptom(RESET, 0.0)
    assert waiting.due(SETTLE_S - 0.1) is None
    question = waiting.due(SETTLE_S)
    assert question is not None
    assert (question.event, question.again) == (RESET, False)
    assert waiting.asked(question, "a", 4.0), "news"
    assert waiting.due(33.0) is None
    later = waiting.due(34.0)
    assert later is not None
    assert later.again
    assert not waiting.asked(later, "a", 34.0), "the same as before"
    assert waiting.due(10_000.0) is None


def test_another_answer_with_more_data_is_news() -> None:
    waiting = Waiting(30.0)
    waiting.symptom(RESET, 0.0)
    first = waiting.due(SETTLE_S)
    assert first is not None
    waiting.asked(first, "a", 3.0)
    second = waiting.due(40.0)
    assert second is not None
    assert waiting.asked(second, "b", 40.0)


def test_what_comes_again_is_counted_and_asked_about_ever_more_seldom() -> None:
    waiting, asked = Waiting(0.0), list[float]()
    for turn in range(24 * 720):
        now_s = 5.0 * turn
        waiting.symptom(replace(RESET, at_ns=RESET.at_ns + turn * 5 * NS), now_s)
        if (question := waiting.due(now_s)) is not None:
            waiting.asked(question, "a", now_s)
            asked.append(now_s)
    assert asked[1] - asked[0] >= PAUSE_S
    assert len(asked) < 35, "of 17,280 in a day"
    assert waiting.repeats(("nic-reset", "eth0")) > 500


def test_another_device_is_another_symptom() -> None:
    waiting = Waiting(0.0)
    waiting.symptom(RESET, 0.0)
    question = waiting.due(SETTLE_S)
    assert question is not None
    waiting.asked(question, "a", 3.0)
    assert not waiting.symptom(replace(RESET, at_ns=RESET.at_ns + 20 * NS), 20.0)
    assert waiting.symptom(replace(RESET, at_ns=RESET.at_ns + 20 * NS, device="eth1"), 20.0)


def test_one_incident_is_one_question_and_the_kernels_word_comes_first() -> None:
    waiting = Waiting(0.0)
    mark = Event(1_000 * NS, "job-failed", "mark", "7", "job 7 failed")
    assert waiting.symptom(mark, 0.0)
    assert not waiting.symptom(replace(RESET, at_ns=1_002 * NS), 0.5)
    question = waiting.due(SETTLE_S)
    assert question is not None
    assert question.event is not None
    assert question.event.kind == "nic-reset"


def test_a_flood_of_different_symptoms_is_bounded_and_the_newest_wait() -> None:
    waiting = Waiting(30.0)
    for number in range(1_000):
        waiting.symptom(replace(RESET, at_ns=(1_000 + 60 * number) * NS, device=f"eth{number}"), float(number))
    assert waiting.dropped == 968
    question = waiting.due(10_000.0)
    assert question is not None
    assert question.key == ("nic-reset", "eth968")


def test_starvation_is_asked_about_once_in_a_while() -> None:
    waiting = Waiting(30.0)
    assert waiting.starvation("3", 0, 0.0)
    assert not waiting.starvation("3", 0, 1.0)
    question = waiting.due(SETTLE_S)
    assert question is not None
    assert question.event is None
    waiting.asked(question, None, 3.0)
    assert not waiting.starvation("3", 0, 30.0)
    assert waiting.starvation("3", 0, 70.0)
