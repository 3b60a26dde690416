"""The thread that asks, with answers that are made up: what is pronounced, replaced, counted and left."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from necroscope import clock
from necroscope.config import Config, from_table
from necroscope.record.verdicts import asking, waiting
from necroscope.record.verdicts.asking import Asking
from necroscope.record.verdicts.child import Answered
from necroscope.record.verdicts.pronounced import Pronounced
from necroscope.vocabulary.event import Event
from stage.answered import why
from stage.processes import wait_for


def reset(**fields: Any) -> Event:
    """A symptom of now."""
    return replace(Event(clock.now().realtime_ns, "nic-reset", "kmsg", "eth0", "reset", device="eth0"), **fields)


class Answers:
    """Answers in turn, the last one again and again; keeps the questions."""

    def __init__(self, *answers: dict[str, Any] | None) -> None:
        self._answers, self.questions = list(answers), list[dict[str, Any]]()
        self.inside = self.most_inside = 0

    def __call__(self, question: dict[str, Any], stop: threading.Event) -> Answered:
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        time.sleep(0.02)
        self.questions.append(question)
        self.inside -= 1
        found = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return Answered(found, "The kernel iterates", 0.1, trouble="" if found else "it failed")


class Heard:
    """What an asker calls back."""

    def __init__(self) -> None:
        self.made, self.spent, self.skipped = list[Pronounced](), list[tuple[float, str]](), list[str]()


@pytest.fixture
def asker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes askers that need not wait for data."""
    monkeypatch.setattr(waiting, "SETTLE_S", 0.05)
    monkeypatch.setattr(waiting, "RETRY_S", 0.05)
    made: list[Asking] = []

    def make(answers: Callable[..., Answered], config: Config | None = None) -> tuple[Asking, Heard]:
        heard = Heard()
        own = config or from_table({"explain": {"again_s": 0.2}}, "x")
        spent = lambda cpu_s, trouble: heard.spent.append((cpu_s, trouble))  # noqa: E731
        made.append(Asking(tmp_path, own, heard.made.append, spent, heard.skipped.append, answers))
        return made[-1], heard

    yield make
    for one in made:
        one.close()


def test_a_symptom_becomes_a_verdict(asker: Any) -> None:
    answers = Answers(why())
    one, heard = asker(answers)
    event = reset()
    one.happened([event, Event(event.at_ns, "unit-restart", "systemd", "a.service")])
    wait_for(lambda: len(answers.questions) == 2, "both questions")
    (made,) = heard.made
    assert answers.questions[0]["event"] == str(event.id)
    assert (made.kind, made.subject, made.device) == ("zombie-memcg", "leaky.service", "eth0")
    assert "root cause: unit leaky.service: The kernel iterates (97 %); core 3 had kubelet" in made.sentence
    stored = made.event
    assert (stored.kind, stored.source, stored.subject, stored.reason) == (
        "verdict",
        "recorder",
        "leaky.service",
        "zombie-memcg",
    )
    assert (stored.cpu, stored.pid, stored.from_ns) == (3, 7, event.at_ns)


def test_more_data_may_replace_a_verdict(asker: Any) -> None:
    nothing = why(verdict="unexplained")
    one, heard = asker(Answers(nothing, nothing, why()))
    one.happened([reset()])
    wait_for(lambda: len(heard.made) == 2, "the second verdict")
    first, second = heard.made
    assert (first.verdict, second.verdict) == ("unexplained", "explained")
    assert (first.replaces, second.replaces) == ("", first.id)


def test_what_explains_nothing_is_asked_again_before_it_is_told(asker: Any) -> None:
    one, heard = asker(Answers(why(verdict="unexplained"), why()), from_table({"explain": {"again_s": 0}}, "x"))
    one.happened([reset()])
    wait_for(lambda: bool(heard.made), "the verdict")
    time.sleep(0.2)
    assert [made.verdict for made in heard.made] == ["explained"]


def test_never_two_at_once_and_the_same_is_not_asked_again(asker: Any) -> None:
    answers = Answers(why())
    one, heard = asker(answers, from_table({"explain": {"again_s": 0}}, "x"))
    for number in range(20):
        one.happened([reset(device=f"eth{number % 4}", at_ns=clock.now().realtime_ns + number * 10_000_000_000)])
    wait_for(lambda: len(heard.made) == 4, "four verdicts")
    one.happened([reset(device=f"eth{number}") for number in range(4)])
    wait_for(lambda: heard.skipped.count("repeat") >= 4, "the repeats")
    assert answers.most_inside == 1
    assert len(answers.questions) == 4


def test_a_symptom_that_goes_on_tells_its_verdict_again_for_alerts(asker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_AGAIN_NS", 0)
    one, heard = asker(Answers(why()), from_table({"explain": {"again_s": 0}}, "x"))
    one.happened([reset()])
    wait_for(lambda: len(heard.made) == 1, "the verdict")
    one.happened([reset(at_ns=clock.now().realtime_ns + 1)])
    wait_for(lambda: len(heard.made) == 2, "it again")
    assert heard.made[1].again
    assert heard.made[1].repeats == 1


def test_what_cannot_be_answered_is_told(asker: Any) -> None:
    one, heard = asker(Answers(None))
    one.happened([reset()])
    wait_for(lambda: heard.spent == [(0.1, "it failed")], "the trouble")
    assert heard.made == []


def test_starvation_that_nobody_reported(asker: Any) -> None:
    answers = Answers(why())
    one, heard = asker(answers)
    one.starved("3")
    wait_for(lambda: len(heard.made) == 1, "the verdict")
    assert answers.questions[0]["event"] is None
    quiet, _ = asker(answers, from_table({"explain": {"unreported": False}}, "x"))
    quiet.starved("3")
    reported, _ = asker(answers)
    reported.happened([reset()])
    reported.starved("3")
    time.sleep(0.3)
    assert [question["event"] for question in answers.questions].count(None) == 1


def test_old_lines_of_the_log_are_not_asked_about(asker: Any) -> None:
    answers = Answers(why())
    one, _ = asker(answers)
    one.happened([reset(at_ns=clock.now().realtime_ns - 60_000_000_000)])
    time.sleep(0.3)
    assert answers.questions == []
