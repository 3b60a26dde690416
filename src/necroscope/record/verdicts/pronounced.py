"""A verdict of the recorder, as it is handed out: an event, a line, a document (docs/json.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from necroscope.clock import NS, iso
from necroscope.quantity import share
from necroscope.store.format.tables import valid_text
from necroscope.vocabulary.event import Event

KIND = "verdict"
_MOST_TEXT = 1_000


@dataclass(frozen=True, slots=True)
class Pronounced:
    """What came of a question. `why` is the document of `necroscope why`; `title` what its cause is called in words.

    `symptom_ns`: when the symptom was. `replaces`: the id of an earlier verdict about the same symptom that no longer
    holds. `repeats`: how often the symptom came again since the verdict before.
    """

    at_ns: int
    symptom_ns: int
    why: Mapping[str, Any]
    title: str
    replaces: str = ""
    repeats: int = 0
    device: str = ""
    again: bool = False
    """Told before: the symptom goes on, and the cause was not asked about anew."""

    @property
    def verdict(self) -> str:
        """explained, partly-explained, unexplained."""
        return str(self.why["verdict"])

    @property
    def cause(self) -> Mapping[str, Any]:
        """The cause; empty where there is none."""
        return self.why["cause"] or {}

    @property
    def kind(self) -> str:
        """The kind of the cause; empty where there is none."""
        return str(self.cause.get("kind", ""))

    @property
    def subject(self) -> str:
        """Whom to act on; empty where nobody was named."""
        return str((self.cause.get("subject") or {}).get("name", ""))

    @property
    def symptom(self) -> Mapping[str, Any]:
        """The symptom that it is about."""
        return self.why["symptom"] or {}

    @property
    def delay_s(self) -> float:
        """From the symptom to the verdict."""
        return (self.at_ns - self.symptom_ns) / NS

    @property
    def same_as(self) -> tuple[str, str, str]:
        """Verdicts that agree in this say the same."""
        return self.verdict, self.kind, self.subject

    @property
    def id(self) -> str:
        """That of its event."""
        return str(self.event.id)

    @property
    def sentence(self) -> str:
        """All of it in one."""
        about = " of ".join(part for part in (self.symptom.get("kind", ""), self.symptom.get("subject", "")) if part)
        if not self.cause:
            missing = "; ".join(one["what"] for one in self.why["missing"][:2])
            return f"{about} at {iso(self.symptom_ns)}: no cause is shown{f' ({missing})' if missing else ''}"
        whom = self.cause.get("subject")
        named = f"{whom['kind']} {whom['name']}" if whom else "nobody is named"
        process = self.cause.get("process")
        on = f"; core {self.cause['cpu']}" if self.cause.get("cpu") is not None else ""
        on += f" had {process['name']}" if process else ""
        sure = share(self.cause["confidence"])
        return f"{about} at {iso(self.symptom_ns)}: root cause: {named}: {self.title or self.kind} ({sure}){on}"

    @property
    def event(self) -> Event:
        """For the timeline: `reason` is the kind of cause, the subject whom to act on, from the symptom to now."""
        process = self.cause.get("process") or {}
        return Event(
            self.at_ns,
            KIND,
            "recorder",
            valid_text(self.subject)[:_MOST_TEXT],
            valid_text(self.sentence)[:_MOST_TEXT],
            reason=self.kind or self.verdict,
            cpu=self.cause.get("cpu"),
            device=valid_text(self.device),
            pid=process.get("pid"),
            task=valid_text(process.get("name") or ""),
            from_ns=min(self.symptom_ns, self.at_ns),
            to_ns=self.at_ns,
        )

    def document(self, node: str, labels: Mapping[str, str]) -> dict[str, Any]:
        """`necroscope.verdict/1`: for sinks."""
        return {
            "schema": "necroscope.verdict/1",
            "id": self.id,
            "replaces": self.replaces or None,
            "at": iso(self.at_ns),
            "delay_s": round(self.delay_s, 3),
            "repeats": self.repeats,
            "node": node,
            "labels": dict(labels),
            "sentence": self.sentence,
            "why": self.why,
        }
