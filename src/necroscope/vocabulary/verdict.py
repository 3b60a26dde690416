"""The vocabulary of a verdict: a symptom, its cause, the links between them, what was tested and what not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from necroscope.vocabulary.model import Evidence, Subject

VerdictKind = Literal["explained", "partly-explained", "unexplained", "no-symptom"]
LinkKind = Literal[
    "symptom",
    "starved-core",
    "blocked",
    "on-core",
    "mechanism",
    "ordered-by",
    "accumulation",
    "leak-source",
    "subject",
    "why-it-runs",
    "recurrence",
    "projection",
    "not-ruled-out",
]
Outcome = Literal["ruled-out", "not-ruled-out", "untested"]

ASKED = "asked"
"""The source of a moment that nobody complained of: it was asked about."""
FOUND = "found"
"""The source of a starvation that nobody reported: it was looked for."""
NOTICED = frozenset({"mark", "ray"})
"""Sources of what somebody noticed, as opposed to what the kernel said."""


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
    cpu: int | None = None
    """The core that it names."""
    queue: int | None = None
    """The queue that it names."""
    device: str = ""

    @property
    def asked(self) -> bool:
        """Whether nobody complained: the moment was asked about."""
        return self.source == ASKED

    @property
    def noticed(self) -> bool:
        """Whether somebody noticed it, who may have been delayed himself, and not the kernel."""
        return self.source in NOTICED


@dataclass(frozen=True, slots=True)
class ProcessRef:
    """Who was on the core. `pid` is None where several of that name took turns, or it is not known."""

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
class Link:
    """One link between the symptom and its cause.

    `strength` is how sure it is, from 0 to 1; None: the confidence does not rest on it. `doubt` says in words what
    keeps it from being surer; empty: nothing in particular. Kinds: the symptom; the starved core; blocked: who waited
    for it; on-core: who had it; mechanism: by what it took so long; ordered-by: who ordered the work; accumulation:
    what was left behind; leak-source: who leaves it behind; subject: whom to act on, where no leak is behind it;
    why-it-runs: why the unit is running; recurrence: whether it was so before other symptoms; projection: when it comes
    back; not-ruled-out: a rival, or somebody, that the evidence does not exclude.
    """

    kind: LinkKind
    claim: str
    evidence: tuple[Evidence, ...] = ()
    strength: float | None = None
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Tested:
    """A hypothesis that is not the cause, or not shown to be, and what the test said.

    `explains` is how much of the lost core time its own numbers speak for, from 0 to 1; None: they do not say.
    """

    hypothesis: str
    outcome: Outcome
    because: str
    evidence: tuple[Evidence, ...] = ()
    explains: float | None = None


@dataclass(frozen=True, slots=True)
class CandidateCause:
    """A cause that was weighed, the best first: which hypothesis, on which core, with whom on it, how much of the lost
    time it explains, and how sure it is."""

    kind: str
    cpu: int | None
    process: ProcessRef | None
    explains: float
    confidence: float
    because: str = ""


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
    """Why a symptom happened: the cause, the links that lead to it, what else was tested, and what was not recorded.

    `unexplained` without a symptom: whether there was one is unknown, and `missing` says why.
    """

    verdict: VerdictKind
    symptom: Complaint | None = None
    cause: Cause | None = None
    links: tuple[Link, ...] = ()
    tested: tuple[Tested, ...] = ()
    candidates: tuple[CandidateCause, ...] = ()
    missing: tuple[Missing, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    window: tuple[int, int] | None = None
    strip: Strip | None = None
    growth: Growth | None = None
    notes: tuple[str, ...] = ()

    @property
    def weakest(self) -> Link | None:
        """The link that the confidence suffers most from; None where none has a strength."""
        weighed = [one for one in self.links if one.strength is not None]
        return min(weighed, key=lambda one: one.strength or 0.0) if weighed else None

    @property
    def inconclusive(self) -> bool:
        """Whether it is unknown if there was a symptom at all."""
        return self.verdict == "unexplained" and self.symptom is None


@dataclass(frozen=True, slots=True)
class Group:
    """Symptoms that share a cause, oldest first; `verdict` is that of the best explained one."""

    verdict: Verdict
    symptoms: tuple[Complaint, ...]
