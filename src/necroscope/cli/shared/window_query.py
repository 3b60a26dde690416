"""What `top`, `flame` and `heatmap` have in common: a window is read, against the same node at other times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from necroscope.cli.shared.against import Against, compared_with, is_file
from necroscope.cli.shared.blindness import INCONCLUSIVE, refuse_blank, without_samples
from necroscope.cli.shared.notes import say
from necroscope.cli.shared.progress import progress
from necroscope.cli.shared.windows import Wanted, chosen
from necroscope.clock import NS
from necroscope.errors import BadInput, NecroscopeError, Unavailable

if TYPE_CHECKING:
    from necroscope.query.profile.profile import Profile
    from necroscope.query.samples.rolled import Detail
    from necroscope.query.select import Select
    from necroscope.store.read.reader import Store
    from necroscope.vocabulary.event import Window

F = TypeVar("F", bound=Callable[..., Any])
_HALF = 0.5
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Looked:
    """A window that was read. `words` says which; `baselines` are the windows it is compared with."""

    store: Store
    profile: Profile
    words: str
    baselines: tuple[Window, ...]
    other: str = ""

    @property
    def compared(self) -> bool:
        """Whether there is a baseline."""
        return bool(self.baselines)

    @property
    def seen(self) -> float:
        """The share of the window's time that was looked at."""
        low, high = self.profile.select.window
        return min(1.0, float(self.profile.seconds[0]) * NS / (high - low + 1)) if self.profile.timed else 1.0

    @property
    def exit_code(self) -> int:
        """3 where most of the window was not looked at."""
        return 0 if self.seen >= _HALF else INCONCLUSIVE

    @property
    def baseline(self) -> str:
        """What the window is compared with, in words."""
        from necroscope.quantity import plural
        from necroscope.show.plain import plain

        return plain(self.other) or f"{plural(len(self.baselines), 'window')} of the same length"

    def headline(self) -> str:
        """What is shown, out of how much."""
        from necroscope.quantity import plural, span
        from necroscope.query.select import FOLDED
        from necroscope.show.caption import cores
        from necroscope.show.plain import plain

        made = self.profile
        if not made.timed:
            samples = plural(int(made.counts.samples[made.counts.window == 0].sum()), "sample")
            what = (
                "in folded stacks, which tell"
                if made.counts.event == FOLDED
                else f"of {plain(made.counts.event)}, which tells"
            )
            shares = f"{self.words}\n{samples} {what} no time: shares are of these"
            return f"{shares}; against {self.baseline}" if self.compared else shares
        busy = made.counts.weight[made.counts.window == 0].sum() * made.per_weight / max(float(made.seconds[0]), 1e-9)
        counted = "" if made.counted else f"; no core counters, so {_uncounted(made)}"
        against = f"; against {self.baseline}" if self.compared else ""
        shown = "" if self.seen >= _HALF else f"; only {span(float(made.seconds[0]))} of it was recorded"
        return f"{self.words}{shown}\n{cores(float(busy))} of {made.cores} cores busy{counted}{against}"


def _uncounted(made: Profile) -> str:
    """What takes the place of counters: which cores, and how cycles became time."""
    from necroscope.sense.perf.event_names import is_clock

    cores = "shares are of the cores that were seen" if made.counts.cpus else "cores are those that it takes at least"
    return cores if is_clock(made.counts.event) else f"{cores}, and the time between samples tells how long each took"


def baseline_options(function: F) -> F:
    """`--against`."""
    return click.option(
        "--against",
        type=Against(),
        default="usual",
        show_default=True,
        help="usual: the same node outside symptoms, within an hour; none: the window alone; FILE: another recording.",
    )(function)


def look(
    store: Path | None,
    wanted: Wanted,
    against: str,
    no_color: bool,
    quiet: bool,
    with_idle: bool = False,
    detail: Detail = "samples",
) -> Looked:
    """Read the window that the options say, with as much detail as is needed."""
    import pyarrow as pa

    from necroscope.query.profile.profile import profile
    from necroscope.query.sealed import again
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store

    # Arrow's own allocator keeps what is freed, which is most of the memory of a long window.
    pa.set_memory_pool(pa.system_memory_pool())
    opened = Store(to_read(store))
    refuse_blank(opened)
    select, words = chosen(opened, wanted)
    sampled, others = again(lambda: _usual(opened, select.window, against == "usual"))
    with progress("reading", no_color, quiet) as told:
        made = profile(opened, select, others, with_idle, told, detail, sampled)
        known = _known(made)
        if len(known) < len(others):
            others = known
            made = profile(opened, select, others, with_idle, told, detail, sampled)
        if is_file(against) and (made.counts.window == 0).any():
            made = compared_with(made, against, with_idle, detail)
            others = list(made.counts.windows[1:])
    say(made.notes)
    if not (made.counts.window == 0).any():
        raise nothing(opened, words, select, made.notes)
    return Looked(opened, made, words, tuple(others), against if is_file(against) else "")


def _usual(store: Store, window: Window, compare: bool) -> tuple[list[Window], list[Window]]:
    """When samples were taken, in the window and near it, and the windows that show what is normal."""
    from necroscope.query.coverage import profiled
    from necroscope.query.profile.baseline import usual_windows

    return usual_windows(store, window) if compare else (profiled(store.snapshot(window)), [])


def _known(made: Profile) -> list[Window]:
    """The baseline windows that were looked at, half of them at least; of what tells no time, there are none."""
    _, *others = zip(made.counts.windows, made.seconds.tolist(), strict=True)
    return [(low, high) for (low, high), seconds in others if made.timed and seconds >= _HALF * (high - low + 1) / NS]


def nothing(store: Store, words: str, select: Select, notes: Sequence[str] = ()) -> NecroscopeError:
    """There are no samples in a window: where there are some, or of what else. By `notes`, they may be damaged."""
    from necroscope.clock import iso
    from necroscope.errors import DAMAGE_HINT
    from necroscope.query.extent import extent
    from necroscope.query.samples.event_kinds import kinds
    from necroscope.query.sealed import again, damaged
    from necroscope.query.select import Select

    if hurt := damaged(notes, "samples", "stacks"):
        return BadInput(f"The samples in {words} cannot be read: {hurt[0]}.", DAMAGE_HINT)
    there = again(lambda: kinds(store.snapshot(select.window), select.window))
    if others := sorted(event for event in there if not select.wants_event(event)):
        return BadInput(
            f"There are no samples in {words}.",
            f"there are some of other events; add {' or '.join(f'--event-type {event}' for event in others[:_NAMED])}",
        )
    try:
        first_ns, last_ns = extent(store.snapshot())
    except BadInput as error:
        return without_samples(store, error)
    hint = f"the recording goes from {iso(first_ns)} to {iso(last_ns)}"
    if select == Select(select.window) and first_ns <= select.window[1] and select.window[0] <= last_ns:
        return Unavailable(f"No samples were taken in {words}.", f"{hint}; `necroscope events` tells of gaps")
    return BadInput(f"There are no samples in {words}.", f"{hint}; options may have left out what is there")


def write(output: Path, data: bytes, quiet: bool) -> None:
    """Write a picture, and say how large it is."""
    try:
        output.write_bytes(data)
    except OSError as error:
        raise BadInput(f"{output} cannot be written: {error.strerror}.", "give another -o FILE") from error
    if not quiet:
        click.echo(f"{output}: {len(data):,} bytes", err=True)


def window_json(looked: Looked) -> dict[str, Any]:
    """What every JSON document of these verbs says about its window."""
    from necroscope import clock

    made = looked.profile
    return {
        "window": [clock.iso(made.select.window[0]), clock.iso(made.select.window[1])],
        "cores": made.cores,
        "core_seconds": round(float(made.core_seconds[0]), 6),
        "core_seconds_counted": made.counted,
        "seen": round(looked.seen, 6),
        "samples": int(made.counts.samples[made.counts.window == 0].sum()),
        "event": made.counts.event,
        "against": looked.other or None,
        "baseline_windows": [[clock.iso(low), clock.iso(high)] for low, high in looked.baselines],
    }
