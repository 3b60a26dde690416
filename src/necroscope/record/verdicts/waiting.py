"""Which symptoms wait to be asked about: one question for an incident, seldom for what comes again.

A symptom is asked about when its data have had time to arrive, and once more later, when more is known. What is about
the same thing (kind and subject) and comes while the last verdict about it stands is a repeat: it is counted. The pause
doubles as long as the cause stays the same, so that a reset every few seconds costs next to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from necroscope.clock import NS
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.verdict import NOTICED

SETTLE_S = 2.5
RETRY_S = 4.0
"""After an answer that explains nothing: on a node that starves, data come late."""
SAME_INCIDENT_NS = 5 * NS
PAUSE_S, LONGEST_PAUSE_S = 60.0, 3_600.0
_MOST, _MOST_KNOWN = 32, 512

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Question:
    """To be asked at `due_s`; `again` when it was answered before. No event: starvation that nobody reported."""

    key: Key
    due_s: float
    at_ns: int
    event: Event | None = None
    again: bool = False
    retried: bool = False


@dataclass(slots=True)
class _Known:
    cause: object
    until_s: float
    pause_s: float
    repeats: int = 0


class Waiting:
    """Questions in the order of their times, and what is known already."""

    def __init__(self, again_s: float) -> None:
        self.again_s = again_s
        self._questions: list[Question] = []
        self._known: dict[Key, _Known] = {}
        self.dropped = 0

    def symptom(self, event: Event, now_s: float) -> bool:
        """A symptom came; False: it is a repeat, and will not be asked about."""
        key = key_of(event)
        known = self._known.get(key)
        if known is not None and now_s < known.until_s:
            known.repeats += 1
            return False
        if any(one.key == key and not one.again for one in self._questions):
            return False
        for place, one in enumerate(self._questions):
            if not one.again and one.event is not None and abs(one.at_ns - event.at_ns) <= SAME_INCIDENT_NS:
                # What the kernel said comes before what somebody noticed.
                if one.event.source in NOTICED and event.source not in NOTICED:
                    self._questions[place] = replace(one, key=key, at_ns=event.at_ns, event=event)
                return False
        return self._put(Question(key, now_s + SETTLE_S, event.at_ns, event))

    def starvation(self, cpu: str, at_ns: int, now_s: float) -> bool:
        """A core was held in the kernel for seconds, and nobody complained."""
        key = ("starvation", cpu)
        known = self._known.get(key)
        if (known is not None and now_s < known.until_s) or any(one.key == key for one in self._questions):
            return False
        return self._put(Question(key, now_s + SETTLE_S, at_ns))

    def due(self, now_s: float) -> Question | None:
        """What may be asked now."""
        ready = [one for one in self._questions if one.due_s <= now_s]
        return min(ready, key=lambda one: (one.again, one.due_s), default=None)

    def wait_s(self, now_s: float) -> float | None:
        """How long until something is due; None: nothing waits."""
        times = [one.due_s for one in self._questions]
        return max(0.0, min(times) - now_s) if times else None

    def asked(self, question: Question, cause: object, now_s: float, explained: bool = True) -> bool:
        """It was answered; True where the answer is to be told: the first about this, or another one than before. One
        that explains nothing is asked for again before it is told."""
        self._questions.remove(question)
        if not explained and not question.again and not question.retried and question.event is not None:
            self._put(replace(question, due_s=now_s + RETRY_S, retried=True))
            return False
        before = self._known.pop(question.key, None)
        same = before is not None and before.cause == cause
        pause_s = min(2 * before.pause_s, LONGEST_PAUSE_S) if before is not None and same else PAUSE_S
        if question.again and before is not None and same:
            pause_s = before.pause_s
        while len(self._known) >= _MOST_KNOWN:
            self._known.pop(next(iter(self._known)))
        self._known[question.key] = _Known(cause, now_s + pause_s, pause_s)
        if not question.again and question.event is not None and self.again_s > 0:
            self._put(replace(question, due_s=now_s + self.again_s, again=True))
        return not same or not question.again

    def repeats(self, key: Key) -> int:
        """How often it came again since the last verdict about it."""
        known = self._known.get(key)
        return known.repeats if known is not None else 0

    def _put(self, question: Question) -> bool:
        if len(self._questions) >= _MOST:
            # The newest matters most; what was answered once goes first.
            self._questions.remove(min(self._questions, key=lambda one: (not one.again, one.due_s)))
            self.dropped += 1
        self._questions.append(question)
        return True


def key_of(event: Event) -> Key:
    """What makes two symptoms the same one again."""
    return event.kind, event.device or event.subject
