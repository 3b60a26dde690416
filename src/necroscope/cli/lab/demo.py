"""`necroscope demo`."""

from __future__ import annotations

import os
import random
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.shared.options import console

if TYPE_CHECKING:
    from rich.console import Console

SCENARIO = "seeds-incident"
SECONDS = 20.0
_SEEDS = 10_000


@click.command()
@click.option("--no-color", is_flag=True, help="Neither colours nor bold (NO_COLOR is honoured too).")
@click.option("--seed", type=int, help="Names, core, delays and magnitudes come from it (default: drawn).")
@click.option("--shipped", is_flag=True, help="Explain the recorded incident that comes with the package.")
@click.option(
    "--keep", type=click.Path(path_type=Path, file_okay=False), help="Leave the recording and its truth in this folder."
)
@click.option("--disposable-machine", is_flag=True, help="Run beside a kubelet or containers of others.")
def demo(no_color: bool, seed: int | None, shipped: bool, keep: Path | None, disposable_machine: bool) -> None:
    """Make the incident happen on this kernel, record it, explain it, stop it, undo it. Under three minutes.

    A unit of a real systemd crash-loops and leaks memory cgroups; an innocent process has to walk over them and holds a
    core in the kernel for seconds; a network driver complains, to this recorder only. The unit is then stopped in that
    systemd, the growth is measured, and all of it is undone. Leaves nothing behind. Needs root and perf; without them,
    the same incident is explained from a recording that comes with the package.

    \b
    Examples:
      sudo necroscope demo
      sudo necroscope demo --keep /tmp/incident
      necroscope demo --shipped
    """
    from necroscope.errors import BadInput, Unavailable

    if shipped and keep is not None:
        raise BadInput("--shipped makes no recording that --keep could leave.", "leave out one of them")
    out = console(no_color)
    try:
        if not shipped:
            _live(out, random.SystemRandom().randrange(_SEEDS) if seed is None else seed, keep, disposable_machine)
    except Unavailable as error:
        _say(out, f"The incident cannot be made here: {error.message}.")
        shipped = True
    if shipped:
        _shipped(out)
    out.print(
        "Next: `necroscope scan` on a node that misbehaves, `necroscope record` to catch it, `necroscope lab list`."
    )


def _live(out: Console, seed: int, keep: Path | None, disposable_machine: bool) -> None:
    from functools import partial

    from necroscope.cli.lab.demo_story import to_the_end
    from necroscope.cli.lab.lab import progress_lines
    from necroscope.lab.catalogue import find
    from necroscope.lab.neighbours import refuse_neighbours
    from necroscope.lab.runner import SHOWN, missing, run

    scenario = find(SCENARIO)
    if not missing(scenario) and not disposable_machine:
        refuse_neighbours()
    with _folder(keep, f"{SHOWN}{os.getpid()}-") as folder:
        _say(out, f"1/6  {scenario.summary} Seed {seed}.")
        story = partial(to_the_end, out, partial(_explain, out), partial(_say, out), folder / "fix")
        outcome = run(scenario, seed, folder, SECONDS, progress_lines(out, quiet=False), followed_by=story)
        truth = outcome.truth
        _say(out, "All of it is gone again.")
        _say(
            out,
            f"The truth: {truth['cause']} by {truth['subject']['kind']} {truth['subject']['name']}, on core "
            f"{truth['cpu']} was {truth['process']['name']} ({truth['process']['pid']}).",
        )
        if keep is not None:
            _say_where(out, "--store", keep / "store")
            return
        again = f"necroscope demo --seed {seed} --keep DIR"
        out.print(f"The recording goes with the demo; `{again}` makes it again and leaves it.", soft_wrap=True)


@contextmanager
def _folder(keep: Path | None, prefix: str) -> Iterator[Path]:
    """Where the recording is: the folder that was asked for, or one that goes with the program."""
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix=prefix) as folder:
        yield Path(folder)


def _say_where(out: Console, option: str, path: Path) -> None:
    """Where the recording is, and how to look into it."""
    from necroscope.show.plain import plain

    name = shlex.quote(plain(str(path)))
    out.print(f"The recording is {name}. Look into it:", markup=False, soft_wrap=True)
    for verb in ("events", "heatmap", "top --event nic-tx-timeout", "why"):
        out.print(f"  necroscope {verb} {option} {name}", markup=False, soft_wrap=True)


def _shipped(out: Console) -> None:
    from necroscope.cli.shared.sources import open_recording
    from necroscope.lab.shipped import incident

    _say(out, "An incident that was made on a real kernel, recorded, and shipped with the package. necroscope why:")
    with incident() as bundle, open_recording(None, bundle) as store:
        assert store is not None
        _explain(out, store)
        _say_where(out, "--bundle", bundle)


def _explain(out: Console, store: Path) -> None:
    from necroscope import config
    from necroscope.explain import explain
    from necroscope.explain.mechanism_files import hypotheses_of
    from necroscope.show.why.answer import Known
    from necroscope.show.why.story import print_story
    from necroscope.store.read.reader import Store

    known = hypotheses_of()
    verdict = explain(Store(store), config.load(None), known=known)
    print_story(verdict, out, Known(known.titles, known.roles))


def _say(out: Console, text: str) -> None:
    from rich.text import Text

    out.print()
    out.print(Text(text, style="bold magenta"))
    out.print()
