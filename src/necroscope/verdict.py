"""The vocabulary of a verdict: a symptom, its cause, the chain between them, what was rejected and what not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from necroscope.model import Evidence, Subject

VerdictKind = Literal["explained", "partly-explained", "unexplained", "no-symptom"]


@dataclass(frozen=True, slots=True)
class Complaint:
    """The symptom that a verdict is about. `id` is that of the event; None: nobody reported it, it was found."""

    kind: str
    at_ns: int
    source: str
    text: str
    subject: str = ""
    uncertainty_ns: int = 0
    id: int | None = None


@dataclass(frozen=True, slots=True)
class ProcessRef:
    """Who was on the core. `pid` is None where several of that name took turns, or nobody told."""

    name: str
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class Cause:
    """What an operator would act on. `subject` is None where the mechanism is shown and who is behind it is not."""

    kind: str
    subject: Subject | None
    process: ProcessRef | None
    cpu: int | None
    confidence: float


@dataclass(frozen=True, slots=True)
class Claim:
    """One link of the chain from the symptom to its cause.

    `kind` is one of: symptom, starved-core, victim, walker, mechanism, orderer, grew, leak-source, why-it-runs,
    recurrence, projection, not-ruled-out: a rival, or somebody, that the evidence does not exclude.
    """

    kind: str
    claim: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """A rival that was tested, and why it is not the cause. `tested` is False where its numbers are missing.

    `standing` is how much of the lost time its own numbers claim, from 0 to 1: much of it, and it is not ruled out.
    """

    hypothesis: str
    because: str
    evidence: tuple[Evidence, ...] = ()
    tested: bool = True
    standing: float = 0.0


@dataclass(frozen=True, slots=True)
class Missing:
    """A link that could not be made, and what would make it."""

    what: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What can be done. `command` is empty for advice; `purges_existing` says whether what has piled up goes too."""

    action: str
    subject: str = ""
    command: str = ""
    text: str = ""
    risk: str = ""
    cost: str = ""
    purges_existing: bool = False


@dataclass(frozen=True, slots=True)
class Strip:
    """A core around the symptom, one entry for each second from `from_ns`: its shares of time, None where unknown."""

    cpu: int
    from_ns: int
    busy: tuple[float | None, ...]
    system: tuple[float | None, ...]
    average: tuple[float | None, ...]
    """Busy share of all cores together."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What piled up, as counted at these times, and the restarts of who is behind it: when they were noticed, and how
    many there were since the look before."""

    what: str
    at_ns: tuple[int, ...]
    count: tuple[int, ...]
    restarts_of: str = ""
    restarts: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a symptom happened: the cause, the chain that leads to it, rejected rivals, and what could not be seen.

    `unexplained` without a symptom: whether there was one cannot be told, and `missing` says why.
    """

    verdict: VerdictKind
    symptom: Complaint | None = None
    cause: Cause | None = None
    chain: tuple[Claim, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    missing: tuple[Missing, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    window: tuple[int, int] | None = None
    strip: Strip | None = None
    growth: Growth | None = None
    notes: tuple[str, ...] = ()

    @property
    def inconclusive(self) -> bool:
        """Whether it cannot be told if there was a symptom at all."""
        return self.verdict == "unexplained" and self.symptom is None


@dataclass(frozen=True, slots=True)
class Group:
    """Symptoms that share a cause, oldest first; `verdict` is that of the best explained one."""

    verdict: Verdict
    symptoms: tuple[Complaint, ...]
