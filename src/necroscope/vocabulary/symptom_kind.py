"""What is known of a kind of complaint, whoever reads its lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from necroscope.vocabulary.model import Severity

Trace = Literal["none", "here", "cpu", "task", "invoker"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of complaint, and how its lines join.

    Lines of one `family` within `join_s` seconds that do not differ in `identity` are one symptom, which takes the kind
    of the highest `rank`; a further complaint that is no more than the last one (neither of a higher rank nor an end)
    must come within `again_s` (None: `join_s`), or it is the next symptom. `trace` says whose stack follows the line:
    `here` that of the CPU that complains, `cpu` that of the CPU named in it, `task` that of the task named in it,
    `invoker` that of the one who called, not of the one who is hit; `none` where a stack would only show the reporter.
    Symptoms that agree in `repeat_by` are repeats. `starved`: a starved core can be the reason. `patience_s`: how long
    the reason may have gone on before the kernel complains, where that is long. `hardware`: the hardware complains.
    """

    name: str
    severity: Severity
    help: str
    family: str
    rank: int = 0
    join_s: float = 2.0
    again_s: float | None = None
    identity: tuple[str, ...] = ()
    trace: Trace = "none"
    repeat_by: tuple[str, ...] = ("device", "queue", "cpu", "task", "function")
    starved: bool = False
    patience_s: float = 0.0
    hardware: bool = False
