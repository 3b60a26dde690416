"""What `top`, `flame` and `heatmap` have in common: a window is read, against the same node at other times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from necroscope.cli.shared.against import Against, compared_with, is_file
from necroscope.cli.shared.blindness import INCONCLUSIVE, refuse_blank
from necroscope.cli.shared.notes import say
from necroscope.cli.shared.progress import progress
from necroscope.errors import BadInput
from necroscope.query.select import Wanted

if TYPE_CHECKING:
    from necroscope.query.profile.looked import Looked
    from necroscope.query.samples.rolled import Detail

F = TypeVar("F", bound=Callable[..., Any])


def baseline_options(function: F) -> F:
    """`--against`."""
    return click.option(
        "--against",
        type=Against(),
        metavar="usual|none|FILE",
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

    from necroscope.query.profile.baseline import usual
    from necroscope.query.profile.looked import Looked, known_baselines, no_baseline
    from necroscope.query.profile.profile import profile
    from necroscope.query.samples.no_samples import no_samples
    from necroscope.query.sealed import again
    from necroscope.query.window_choice import chosen
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store

    # Arrow's own allocator keeps what is freed, which is most of the memory of a long window.
    pa.set_memory_pool(pa.system_memory_pool())
    opened = Store(to_read(store))
    refuse_blank(opened)
    select, words = chosen(opened, wanted)
    sampled, others = again(lambda: usual(opened, select.window, against == "usual"))
    with progress("reading", no_color, quiet) as on_progress:
        made = profile(opened, select, others, with_idle, on_progress, detail, sampled)
        known = known_baselines(made)
        if len(known) < len(others):
            others = known
            made = profile(opened, select, others, with_idle, on_progress, detail, sampled)
        if is_file(against) and (made.counts.window == 0).any():
            made = compared_with(made, against, with_idle, detail)
            others = list(made.counts.windows[1:])
    say(made.notes)
    if not (made.counts.window == 0).any():
        raise no_samples(opened, words, select, made.notes)
    uncompared = no_baseline(made) if against == "usual" and not others else ""
    return Looked(opened, made, words, tuple(others), against if is_file(against) else "", uncompared)


def exit_code(looked: Looked) -> int:
    """3 where most of the window was not looked at."""
    return 0 if looked.conclusive else INCONCLUSIVE


def write(output: Path, data: bytes, quiet: bool) -> None:
    """Write a picture, and say how large it is."""
    try:
        output.write_bytes(data)
    except OSError as error:
        raise BadInput(f"{output} cannot be written: {error.strerror}.", "give another -o FILE") from error
    if not quiet:
        click.echo(f"{output}: {len(data):,} bytes", err=True)
