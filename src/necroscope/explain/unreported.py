"""Starvation that nobody reported: cores held in the kernel for seconds while somebody waited for them.

A busy core is what computers are for. So without a symptom only the worst kind counts: one core nearly all in the
kernel, for at least five seconds, with another process waiting for it most of that time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from necroscope.clock import NS, iso
from necroscope.config import Config
from necroscope.diagnose.hypotheses import Catalogue
from necroscope.explain.inconclusive import not_readable, unwatched
from necroscope.explain.known import Known
from necroscope.quantity import share, span
from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.case.symptom import complaint, latest_other
from necroscope.query.cores.core_heat import core_heat
from necroscope.query.cores.core_time import core_time
from necroscope.query.cores.starved import runs
from necroscope.query.coverage import joined
from necroscope.query.select import Select
from necroscope.store.read.reader import Snapshot
from necroscope.vocabulary.case import Case, Run
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.model import Evidence
from necroscope.vocabulary.verdict import FOUND, Cause, Complaint, Link, Missing, Verdict

_LEAST_S, _IN_KERNEL, _WAITED = 5.0, 0.85, 0.6
_SURE = 0.8
_BACK_NS = 24 * 3600 * NS
_MOST_CELLS, _MOST_RUNS = 40, 3


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict, and the case that it rests on; None where there was nothing to read a case of."""

    verdict: Verdict
    case: Case | None = None


def unreported(store: FixedStore, recorded: Window, known: Known, notes: Sequence[str] = ()) -> Answer:
    """A verdict about the worst starvation of the last day that nobody reported; `no-symptom` where there is none.

    `notes` are about what could not be read so far. Where anything could not be, nobody can say that there is none.
    """
    unread = list(notes)
    for run in held_cores(store, recorded, known.config, unread)[:_MOST_RUNS]:
        case = known.case(store, _complaint(run), recorded, others=False)
        verdict = known.verdict(case)
        unread = list(dict.fromkeys((*unread, *verdict.notes)))
        cause = verdict.cause
        if cause is not None and _named(cause, known.catalogue) and somebody_waited(case, cause, run):
            return Answer(replace(verdict, notes=tuple(unread)), case)
    if unread:
        return Answer(not_readable(unread))
    snapshot = store.snapshot()
    blind = unwatched(store, snapshot, recorded, unread)
    return Answer(blind or _not_of_a_core(snapshot, recorded) or Verdict("no-symptom"))


def _not_of_a_core(snapshot: Snapshot, recorded: Window) -> Verdict | None:
    """The answer about the latest complaint that no starved core causes, as of hardware or of memory; None: there is
    none. Nobody is named for it, but neither was nothing wrong."""
    last = latest_other(snapshot, recorded)
    if last is None:
        return None
    symptom = complaint(last)
    evidence = Evidence(symptom.text or symptom.kind, symptom.source, symptom.kind, window=(last.at_ns, last.at_ns))
    about = f" of {symptom.subject}" if symptom.subject else ""
    link = Link("symptom", f"{symptom.kind}{about} at {iso(last.at_ns)}", (evidence,))
    what = f"the reason of {symptom.kind}: it is not a kind that a starved core causes, and nothing else was looked for"
    hint = f"docs/symptoms.md describes it; `necroscope why --event {symptom.kind}` looks at the cores all the same"
    return Verdict("unexplained", symptom, links=(link,), missing=(Missing(what, hint),))


def _named(cause: Cause, catalogue: Catalogue) -> bool:
    """Whether a cause is sure, and says by which mechanism."""
    entry = catalogue.of(cause.kind)
    return cause.confidence >= _SURE and entry is not None and not entry.nameless


def somebody_waited(case: Case, cause: Cause, run: Run) -> bool:
    """Whether somebody else waited for the core for most of the time."""
    name = cause.process.name if cause.process else ""
    same = (one for one in case.starvations if one.run.cpu == run.cpu and one.run.overlaps(run.window))
    return any(wait.name != name and wait.seconds >= _WAITED * one.run.seconds for one in same for wait in one.waits)


def held_cores(store: FixedStore, recorded: Window, config: Config, notes: list[str]) -> list[Run]:
    """Cores that were held in the kernel, the longest first. Roll-ups show where to look; `notes` gets damage."""
    window = max(recorded[0], recorded[1] - _BACK_NS), recorded[1]
    snapshot = store.snapshot(window)
    cells: set[int] = set()
    for look in ("system", "irq"):
        grid = core_heat(snapshot, Select(window), look, most_columns=1000, notes=notes)
        hot = np.flatnonzero((np.nan_to_num(grid.values) >= _IN_KERNEL).any(axis=0)).tolist()
        cells.update(grid.from_ns + one * grid.column_ns for one in hot)
        width_ns = grid.column_ns
    windows = joined(((at - 10 * NS, at + width_ns + 10 * NS) for at in cells), gap_ns=0)[-_MOST_CELLS:]
    if not windows:
        return []
    found = runs(core_time(store.snapshot(window), windows, notes), config.cpu.busy, _LEAST_S, _IN_KERNEL)
    return sorted(found, key=lambda run: -run.seconds)


def _complaint(run: Run) -> Complaint:
    text = (
        f"core {run.cpu} was held for {span(run.seconds)}, {share(run.kernel)} of it in the kernel; nobody reported it"
    )
    return Complaint("starved-core", run.to_ns, FOUND, text, f"cpu{run.cpu}", cpu=run.cpu)
