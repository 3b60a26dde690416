"""All that is known of one starved core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from necroscope.clock import NS
from necroscope.query.case.beginnings import recorder_at
from necroscope.query.case.cores.choice import MOST, chosen, clipped, looked_through, parts_of
from necroscope.query.case.cores.quiet import quiet_windows
from necroscope.query.case.cores.strip import strip_of
from necroscope.query.case.fixed_store import FixedStore
from necroscope.query.case.recorder_notes import starts_in
from necroscope.query.case.starvation.callers import read_callers
from necroscope.query.case.starvation.core_numbers import speed_of, usual_modes
from necroscope.query.case.starvation.line_up import Bounds, line_up, with_cgroups
from necroscope.query.case.starvation.numbers import KERNEL, SIGNALS, Numbers, numbers_of
from necroscope.query.case.starvation.processes import LOOK_NS, Processes
from necroscope.query.case.starvation.quotas import THROTTLED, quotas_of, stopped_most
from necroscope.query.case.starvation.waits import Quotas, longest_share, waits_for
from necroscope.query.case.surroundings import Surroundings
from necroscope.query.case.wanted import Names, Orders
from necroscope.query.cores.starved import mean_busy
from necroscope.query.profile.profile import profile
from necroscope.query.samples.kept_samples import keeping
from necroscope.query.sealed import damaged
from necroscope.query.select import Select
from necroscope.query.series import Series, series_of
from necroscope.vocabulary.case import Callers, LineUp, Run, Starvation, Wait
from necroscope.vocabulary.event import Window

_SHORT = Bounds(suspects=4, stacks=0, everybody=0)
# Counters give the rates of quiet times before a run.
_COUNTED_BEFORE_NS, _COUNTED_AFTER_NS = 640 * NS, 100 * NS
_OOM_BEFORE_NS, _OOM_AFTER_NS = 5 * NS, 30 * NS
_OOM = "oom-kill"
# What a recorder is called. Only where somebody of such a name waited, it is looked for who it was.
_RECORDERS = ("necroscope", "python")


@dataclass(frozen=True, slots=True)
class _Looked:
    """The part of a starved time that is looked at, the whole of it, and what it is compared with."""

    run: Run
    whole: Run
    quiet: list[Window]


def _windows(looked: Iterable[_Looked]) -> list[Window]:
    return [window for one in looked for window in (one.run.window, *one.quiet)]


class _Signals:
    """Named signals of one window of the recording, read when one is first asked for."""

    def __init__(self, store: FixedStore, names: Sequence[str], window: Window, notes: list[str]) -> None:
        self._store, self._names, self._window, self._notes = store, tuple(names), window, notes
        self._read: dict[str, list[Series]] | None = None

    def every(self) -> dict[str, list[Series]]:
        """All of them, by name; what was not recorded is absent."""
        if self._read is None:
            self._read = series_of(self._store.snapshot(self._window), self._names, self._window, self._notes)
        return self._read

    def named(self, name: str) -> list[Series]:
        """One signal, of every set of labels."""
        return self.every().get(name, [])


class StarvationReader:
    """Reads starved cores around one symptom; what several of them need is read once. `short`: who was on them and who
    waited, and neither stacks nor numbers."""

    def __init__(self, around: Surroundings, orders: Orders, short: bool = False) -> None:
        self._around, self._orders, self._short = around, orders, short
        self._names = Names(orders.functions)
        low, high = around.lookback
        counted = max(around.near[0], low - _COUNTED_BEFORE_NS), min(around.near[1], high + _COUNTED_AFTER_NS)
        self._signals = _Signals(around.store, (THROTTLED,) if short else SIGNALS, counted, around.notes)
        looked = around.near[0], around.near[1] + LOOK_NS
        self._processes = Processes(around.store, looked, around.notes)

    def waits(self, run: Run, whole: Run | None = None) -> tuple[Wait, ...]:
        """Who waited for the core of a run, which may be a part of a longer one."""
        until_ns = max(run.to_ns, (whole or run).to_ns)
        rows = list(self._processes.within((run.from_ns, until_ns + LOOK_NS)))
        waited = {str(row["comm"]) for row in rows if row["run_delay_ms"]}
        own = self._own | {self._recorder} if any(name.startswith(_RECORDERS) for name in waited) else self._own
        return waits_for(run, until_ns, rows, self._quotas if waited else Quotas(), own)

    @property
    def kernel(self) -> str:
        """The release of the kernel that ran; empty: not recorded."""
        releases = [one.label("release") for one in self._signals.named(KERNEL)]
        return releases[-1] if releases else ""

    def longest_wait(self, run: Run) -> float | None:
        """The longest that anybody waited for the core of a run, as a share of it; None: unknown."""
        return longest_share(self.waits(run), run)

    def starvations(self, most: int = MOST) -> tuple[Starvation, ...]:
        """The starved cores that may have made the symptom, in the order in which they were found: each, and then the
        parts of it in which somebody took the core. Samples are read twice: for all of these, and for all parts."""
        around = self._around
        looked = [self._look(run) for run in chosen(around, self.longest_wait, most)]
        longer = [window for one in looked if (window := looked_through(around, one.whole)) is not None]
        with keeping((one.run.cpu for one in looked), [*_windows(looked), *longer]):
            whole = [self._read(one) for one in looked]
            parts = [[self._look(part) for part in parts_of(around, one.whole)] for one in looked]
        every = [part for some in parts for part in some]
        with keeping((one.run.cpu for one in every), _windows(every)):
            read = {id(one): self._read(one) for one in every}
        return tuple(
            found for one, some in zip(whole, parts, strict=True) for found in (one, *(read[id(part)] for part in some))
        )

    def _look(self, whole: Run) -> _Looked:
        return _Looked(clipped(whole, self._around.symptom.at_ns), whole, quiet_windows(self._around, whole))

    def _read(self, looked: _Looked) -> Starvation:
        """Everything about a run."""
        around = self._around
        run, whole, quiet = looked.run, looked.whole, looked.quiet
        seen = profile(around.store, Select(run.window, cpus=frozenset({run.cpu})), quiet)
        around.note(*damaged(seen.notes))
        found = line_up(seen, run.seconds, _SHORT if self._short else None)
        waits = self.waits(run, whole)
        if self._short:
            return Starvation(run, whole, found, tuple(quiet), waits=waits)
        signals = self._signals.every()
        quotas = quotas_of(signals.get(THROTTLED, ()), run, quiet)
        numbers: Numbers = {
            **numbers_of(signals, run, quiet),
            **speed_of(signals, around.times, run, quiet),
            **usual_modes(around.times, run, quiet),
            **stopped_most(quotas),
            "oom_events": float(self._oom_events(run)),
        }
        found = with_cgroups(found, self._cgroups)
        return Starvation(
            run,
            whole,
            found,
            tuple(quiet),
            numbers,
            waits,
            self._callers(run, found, quiet),
            mean_busy(around.times, run.window),
            self._elsewhere_idle(run),
            quotas,
            strip_of(around.close, around.symptom.at_ns, run.cpu) if around.counted else None,
        )

    def _callers(self, run: Run, found: LineUp, quiet: list[Window]) -> Callers | None:
        if not self._orders.functions or not self._orders.wanted(found):
            return None
        return read_callers(self._around.store, run, quiet, self._names)

    def _oom_events(self, run: Run) -> int:
        low, high = run.from_ns - _OOM_BEFORE_NS, run.to_ns + _OOM_AFTER_NS
        return sum(one.kind == _OOM and low <= one.at_ns <= high for one in self._around.events)

    def _elsewhere_idle(self, run: Run) -> float | None:
        """Idle share of the other cores meanwhile; None where there are none, or nobody counted."""
        times = self._around.times
        spare = frozenset(set(times.cpu.tolist()) - {run.cpu})
        busy = mean_busy(times.of(spare), run.window) if spare else None
        return None if busy is None else max(0.0, 1.0 - busy)

    @cached_property
    def _recorder(self) -> int | None:
        """The recorder that ran, however long it had done so."""
        return recorder_at(self._around.store, self._around.symptom.at_ns)

    @cached_property
    def _own(self) -> frozenset[int | None]:
        """Recorders that began near the symptom."""
        around = self._around
        return frozenset(one.pid for one in starts_in(around.events, around.symptom.at_ns))

    @cached_property
    def _quotas(self) -> Quotas:
        return Quotas.of(self._signals.named(THROTTLED))

    @cached_property
    def _cgroups(self) -> dict[int, list[str]]:
        return self._processes.cgroups(self._around.symptom.at_ns)
