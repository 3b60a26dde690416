"""`validate`: both sides of a change read (`query/validation`), what `why` names before it, and judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from necroscope.clock import NS
from necroscope.config import Config
from necroscope.diagnose.hypotheses import Catalogue
from necroscope.diagnose.validate import judge_validation
from necroscope.errors import BadInput
from necroscope.explain.known import Known
from necroscope.explain.unreported import held_cores, somebody_waited
from necroscope.query.case.beginnings import boots
from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.case.symptom import latest_of
from necroscope.query.extent import extent_of
from necroscope.query.remembered import remembering
from necroscope.query.sealed import again
from necroscope.query.series import series_of
from necroscope.query.validation.side import SideReader
from necroscope.query.validation.windows import PATIENCE_NS, Sides, sides
from necroscope.store.read.damage_noticed import noticing
from necroscope.store.read.reader import Store
from necroscope.vocabulary.case import Boot, Run
from necroscope.vocabulary.conclusions.validation import Change, Side, Validation, ValidationFacts
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.verdict import Complaint, Verdict

LONG_NS = 24 * 3600 * NS
_HELD_MOST = 3


def validate(
    store: Store, change: Change, wanted_s: float, config: Config | None = None, known: Catalogue | None = None
) -> Validation:
    """What a change did. `BadInput` where the recording is empty, or ends before it."""
    with noticing() as noticed, remembering():
        made = again(lambda: _Reading(FixedStore(store), Known.of(config, known), change, wanted_s).judged())
    return replace(made, notes=tuple(dict.fromkeys((*made.notes, *noticed))))


class _Reading:
    """One reading of everything that is judged."""

    def __init__(self, store: FixedStore, known: Known, change: Change, wanted_s: float) -> None:
        self._store, self._known, self._change, self._wanted_s = store, known, change, wanted_s
        self._notes: list[str] = []
        # Lines of a log may be far older than the recording.
        whole = extent_of(store.snapshot(), ("ticks", "samples"), self._notes)
        if whole is None:
            raise BadInput("The store is empty.", "record first (`necroscope record`), or give another --store")
        self._recorded = whole
        self._reader = SideReader(store, whole, self._notes)

    def judged(self) -> Validation:
        """Both sides, and what they mean."""
        windows = sides(self._change, self._wanted_s, self._recorded, boots(self._store), self._looks_ns())
        before = self._side(windows.before) if windows.before is not None else None
        facts = ValidationFacts(
            self._change,
            self._wanted_s,
            self._side(windows.after),
            before,
            booted_ns=windows.booted_ns,
            zombies_before=before.looks[-1][1] if before is not None and before.looks else None,
        )
        facts = self._with_the_day_before(facts, windows)
        return judge_validation(facts, self._known.config, self._notes)

    def _looks_ns(self) -> list[int]:
        """When zombies were counted around the end of the window."""
        begin = self._change.at_ns
        window = begin, min(self._recorded[1], begin + 2 * round(self._wanted_s * NS) + 2 * PATIENCE_NS)
        if window[0] >= window[1]:
            return []
        found = series_of(self._store.snapshot(window), ("memcg_zombies",), window, self._notes)
        return sorted(at for one in found.get("memcg_zombies", ()) for at in one.at_ns.tolist())

    def _side(self, window: Window) -> Side:
        read = self._reader.read(window)
        return replace(read, starved=tuple(self._starved(window)))

    def _starved(self, window: Window) -> list[Run]:
        """Cores held in the kernel while somebody waited: what `why` finds where nobody reports anything."""
        held = held_cores(self._store, window, self._known.config, self._notes)
        found = []
        for run in (run for run in held[:_HELD_MOST] if run.overlaps(window)):
            symptom = Complaint("starved-core", run.to_ns, "found", "", f"cpu{run.cpu}", cpu=run.cpu)
            case = self._known.case(self._store, symptom, self._recorded, others=False)
            cause = self._known.verdict(case).cause
            if cause is not None and somebody_waited(case, cause, run):
                found.append(run)
        return found

    def _with_the_day_before(self, facts: ValidationFacts, windows: Sides) -> ValidationFacts:
        """Symptoms of up to a day before, and what `why` says of the last of them."""
        day = max(self._recorded[0], facts.change.at_ns - LONG_NS), facts.change.at_ns
        if day[0] >= day[1]:
            return facts
        told = self._reader.symptoms(day)
        facts = replace(facts, long_before=told, long_s=(day[1] - day[0]) / NS)
        if not told:
            return facts
        case = self._known.case(self._store, latest_of(told), self._recorded, others=False)
        verdict = self._known.verdict(case)
        return replace(facts, cause=verdict.cause, at_symptom=_at_symptom(verdict, case.boots), boots=case.boots)


def _at_symptom(verdict: Verdict, found: Sequence[Boot]) -> int | None:
    """How many zombies there were when the first symptom came, where the verdict says that they have to do with it."""
    if not any(link.kind == "accumulation" for link in verdict.links):
        return None
    return min((one.at_symptom for one in found if one.at_symptom), default=None)
