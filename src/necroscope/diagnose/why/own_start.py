"""The recorder's own start: it loads programs and looks at everything for the first time, for a second or two.

That is work that the recording itself made, before anybody was sampled: no symptom is explained by it. A recorder that
takes a core later is a suspect like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from necroscope.case import Run
from necroscope.clock import NS
from necroscope.diagnose.why.suspects import Suspect
from necroscope.store.tables import Event

_STARTED = "recorder-started"
_PID = re.compile(r"pid (\d+),")
_START_NS = 10 * NS


def own_start(run: Run, suspect: Suspect | None, told: Iterable[Event]) -> bool:
    """Whether a starved core is the recorder's own start: it fell into it, and nobody but the recorder was on it."""
    return any(
        event.at_ns - _START_NS < run.from_ns and run.to_ns < event.at_ns + _START_NS and _nobody_else(suspect, event)
        for event in told
        if event.kind == _STARTED
    )


def recorder_pid(event: Event) -> int | None:
    """The process of a recorder that tells of its start; None for other events."""
    found = _PID.match(event.text) if event.kind == _STARTED else None
    return int(found[1]) if found else None


def _nobody_else(suspect: Suspect | None, event: Event) -> bool:
    return suspect is None or suspect.pids == (recorder_pid(event),)
