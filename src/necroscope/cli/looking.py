"""What `top`, `flame` and `heatmap` have in common: a window is read, against the same node at other times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from necroscope.cli.progress import progress
from necroscope.cli.windows import Wanted, chosen
from necroscope.errors import BadInput

if TYPE_CHECKING:
    from necroscope.query.profile import Profile
    from necroscope.store.catalog import Window
    from necroscope.store.reader import Store

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Looked:
    """A window that was read. `words` says which; `baselines` are the windows it is compared with."""

    store: Store
    profile: Profile
    words: str
    baselines: tuple[Window, ...]

    @property
    def compared(self) -> bool:
        """Whether there is a baseline."""
        return bool(self.baselines)

    def headline(self) -> str:
        """What is shown, out of how much."""
        from necroscope.quantity import plural
        from necroscope.show.caption import cores

        made = self.profile
        busy = made.ledger.weight[made.ledger.window == 0].sum() * made.per_weight / max(float(made.seconds[0]), 1e-9)
        counted = "" if made.counted else "; no core counters, so shares are of the cores that were seen"
        against = f"; against {plural(len(self.baselines), 'window')} of the same length" if self.compared else ""
        return f"{self.words}\n{cores(float(busy))} of {made.cores} cores busy{counted}{against}"


def baseline_options(function: F) -> F:
    """`--against`."""
    return click.option(
        "--against",
        type=click.Choice(["usual", "none"]),
        default="usual",
        show_default=True,
        help="usual: the same node outside symptoms, within an hour; none: the window alone.",
    )(function)


def look(
    store: Path | None,
    wanted: Wanted,
    against: str,
    no_color: bool,
    quiet: bool,
    with_idle: bool = False,
    rolled: bool = False,
) -> Looked:
    """Read the window that the options say; `rolled` where names of threads and stacks are all that is needed."""
    from necroscope.query.profile import profile
    from necroscope.query.sealed import again
    from necroscope.store.place import to_read
    from necroscope.store.reader import Store

    opened = Store(to_read(store))
    select, words = chosen(opened, wanted)
    others: list[Window] = []
    if against == "usual":
        others = again(lambda: _usual(opened, select.window))
    with progress("reading", no_color, quiet) as told:
        made = profile(opened, select, others, with_idle, told, rolled)
    for note in made.notes:
        click.echo(f"necroscope: {note}", err=True)
    if not (made.ledger.window == 0).any():
        raise nothing(opened, words)
    return Looked(opened, made, words, tuple(others))


def _usual(store: Store, window: Window) -> list[Window]:
    """The windows that show what is normal."""
    from necroscope.query.baseline import AFTER_NS, BEFORE_NS, WITHIN_NS, baselines
    from necroscope.query.landmarks import extent, symptoms

    snapshot = store.snapshot()
    near = window[0] - WITHIN_NS - AFTER_NS, window[1] + WITHIN_NS + BEFORE_NS
    return baselines(window, extent(snapshot), [event.at_ns for event in symptoms(snapshot, near)])


def nothing(store: Store, words: str) -> BadInput:
    """There are no samples in a window: where there are some."""
    from necroscope.clock import iso
    from necroscope.query.landmarks import extent

    first_ns, last_ns = extent(store.snapshot())
    return BadInput(
        f"There are no samples in {words}.",
        f"the recording goes from {iso(first_ns)} to {iso(last_ns)}; options may have left out what is there",
    )


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
        "samples": int(made.ledger.samples[made.ledger.window == 0].sum()),
        "event": made.ledger.event,
        "baseline_windows": [[clock.iso(low), clock.iso(high)] for low, high in looked.baselines],
    }
