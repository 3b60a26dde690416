"""The thread that asks: one question at a time, when its data are there and the allowance has room."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from necroscope import clock
from necroscope.clock import NS
from necroscope.config import Config
from necroscope.query.case.symptom import is_symptom
from necroscope.record.verdicts.allowance import Allowance
from necroscope.record.verdicts.child import Answered, ask
from necroscope.record.verdicts.pronounced import Pronounced
from necroscope.record.verdicts.waiting import Question, Waiting, key_of
from necroscope.vocabulary.event import Event

# Of the kernel's log, the first look reads everything: what was there before is not asked about.
_BEFORE_NS = 5 * NS
_LONGEST_WAIT_S = 60.0
# A complaint about the same seconds says more than that nobody complained.
_REPORTED_S = 30.0
_BACK_NS = 120 * NS
# How often a verdict is told again while its symptom goes on: alerts end by themselves.
_AGAIN_NS = 300 * NS


class Asking:
    """Told of symptoms; calls back from its own thread: `pronounce` with verdicts, `spent` with CPU seconds and a
    trouble that kept a question from being answered (or nothing), `skipped` with why one was not asked."""

    def __init__(
        self,
        store: Path,
        config: Config,
        pronounce: Callable[[Pronounced], None],
        spent: Callable[[float, str], None],
        skipped: Callable[[str], None],
        asker: Callable[[dict[str, Any], threading.Event], Answered] = ask,
    ) -> None:
        self._store, self._config, self._ask = store, config, asker
        self._pronounce, self._spent, self._skipped = pronounce, spent, skipped
        self._began_ns = clock.now().realtime_ns
        self._waiting = Waiting(config.explain.again_s)
        self._allowance = Allowance(config.explain.share, clock.elapsed_s())
        self._last: dict[tuple[str, str], Pronounced] = {}
        self._symptom_s = -_REPORTED_S
        self._news: SimpleQueue[Event | tuple[str, int]] = SimpleQueue()
        self._wake, self._stop = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="verdicts", daemon=True)
        self._thread.start()

    def happened(self, events: Iterable[Event]) -> None:
        """Symptoms among these will be asked about."""
        for event in events:
            fresh = event.at_ns >= self._began_ns - _BEFORE_NS or event.source == "mark"
            if fresh and is_symptom(event):
                self._news.put(event)
                self._wake.set()

    def starved(self, cpu: str) -> None:
        """A core was held in the kernel for seconds; perhaps nobody complains."""
        if self._config.explain.unreported:
            self._news.put((cpu, clock.now().realtime_ns))
            self._wake.set()

    def set(self, config: Config) -> None:
        """Other settings, from the next question on."""
        self._config = config
        self._waiting.again_s = config.explain.again_s
        self._allowance.share = config.explain.share

    def close(self, patience_s: float = 5.0) -> None:
        """Ask nothing more; a question under way is given up."""
        self._stop.set()
        self._wake.set()
        self._thread.join(patience_s)

    # -- the thread ------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.clear()
            self._take_news()
            now_s = clock.elapsed_s()
            question, pause_s = self._waiting.due(now_s), self._allowance.wait_s(now_s)
            if question is not None and not pause_s:
                self._answer(question)
                continue
            due_s = self._waiting.wait_s(now_s)
            wait_s = _LONGEST_WAIT_S if due_s is None else max(due_s, pause_s, 0.05)
            self._wake.wait(min(wait_s, _LONGEST_WAIT_S))

    def _take_news(self) -> None:
        try:
            while True:
                news, now_s = self._news.get_nowait(), clock.elapsed_s()
                if isinstance(news, Event):
                    self._symptom_s = now_s
                    if not self._waiting.symptom(news, now_s):
                        self._skipped("repeat")
                        self._goes_on(news)
                elif now_s - self._symptom_s > _REPORTED_S:
                    self._waiting.starvation(*news, now_s)
                if self._waiting.dropped:
                    self._waiting.dropped -= 1
                    self._skipped("too many")
        except Empty:
            return

    def _goes_on(self, symptom: Event) -> None:
        key, now_ns = key_of(symptom), clock.now().realtime_ns
        last = self._last.get(key)
        if last is not None and now_ns - last.at_ns >= _AGAIN_NS:
            repeats = self._waiting.repeats(key)
            self._last[key] = replace(last, at_ns=now_ns, repeats=repeats, again=True)
            self._pronounce(self._last[key])

    def _answer(self, question: Question) -> None:
        found = self._ask(self._as_question(question), self._stop)
        now_s = clock.elapsed_s()
        self._allowance.spend(found.cpu_s, now_s)
        if self._stop.is_set():
            return
        self._spent(found.cpu_s, found.trouble)
        made = self._made(question, found)
        explained = made is not None and made.verdict == "explained"
        news = self._waiting.asked(question, made.same_as if made is not None else None, now_s, explained)
        if made is not None and news:
            self._last[question.key] = made
            while len(self._last) > 64:
                self._last.pop(next(iter(self._last)))
            self._pronounce(made)

    def _made(self, question: Question, found: Answered) -> Pronounced | None:
        """The verdict; None where there is none, as where nothing starved."""
        if found.why is None or found.why.get("symptom") is None:
            return None
        before = self._last.get(question.key) if question.again else None
        now_ns = clock.now().realtime_ns
        device = question.event.device if question.event is not None else ""
        repeats = self._waiting.repeats(question.key)
        made = Pronounced(now_ns, question.at_ns, found.why, found.title, "", repeats, device)
        if before is None or before.same_as == made.same_as:
            return made
        return Pronounced(now_ns, question.at_ns, found.why, found.title, before.id, repeats, device)

    def _as_question(self, question: Question) -> dict[str, Any]:
        config = self._config
        limits = {name: asdict(getattr(config, name)) for name in ("zombies", "crash_loop", "cpu")}
        return {
            "store": str(self._store.absolute()),
            "event": str(question.event.id) if question.event is not None else None,
            "since_ns": question.at_ns - _BACK_NS,
            "limits": limits,
            "cpu_s": config.explain.cpu_s,
            "memory_bytes": config.explain.memory_bytes,
        }
