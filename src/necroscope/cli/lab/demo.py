"""`necroscope demo`."""

from __future__ import annotations

import os
import random
import tempfile
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
@click.option("--no-color", is_flag=True, help="No colours.")
@click.option("--seed", type=int, help="Names, core, delays and magnitudes come from it (default: drawn).")
@click.option("--shipped", is_flag=True, help="Explain the recorded incident that comes with the package.")
@click.option("--disposable-machine", is_flag=True, help="Run beside a kubelet or containers of others.")
def demo(no_color: bool, seed: int | None, shipped: bool, disposable_machine: bool) -> None:
    """Make the incident happen on this kernel, record it, explain it. About a minute; leaves nothing behind.

    A unit of a real systemd crash-loops and leaks memory cgroups; an innocent process has to walk over them and holds a
    core in the kernel for seconds; a network driver complains, to this recorder only. Needs root and perf; without
    them, the same incident is explained from a recording that comes with the package.

    \b
    Examples:
      sudo necroscope demo
      necroscope demo --shipped
    """
    from necroscope.errors import Unavailable

    out = console(no_color)
    try:
        if not shipped:
            _live(out, random.SystemRandom().randrange(_SEEDS) if seed is None else seed, disposable_machine)
    except Unavailable as error:
        _say(out, f"The incident cannot be made here: {error.message}.")
        shipped = True
    if shipped:
        _shipped(out)
    out.print(
        "Next: `necroscope scan` on a node that misbehaves, `necroscope record` to catch it, `necroscope lab list`."
    )


def _live(out: Console, seed: int, disposable_machine: bool) -> None:
    from necroscope.cli.lab.lab import teller
    from necroscope.lab.catalogue import find
    from necroscope.lab.neighbours import refuse_neighbours
    from necroscope.lab.runner import SHOWN, missing, run

    scenario = find(SCENARIO)
    if not missing(scenario) and not disposable_machine:
        refuse_neighbours()
    with tempfile.TemporaryDirectory(prefix=f"{SHOWN}{os.getpid()}-") as folder:
        _say(out, f"1/3  {scenario.summary} Seed {seed}.")
        outcome = run(scenario, seed, Path(folder), SECONDS, teller(out, quiet=False))
        truth = outcome.truth
        _say(out, "2/3  All of it is gone again, the recording is here. necroscope why:")
        _explain(out, outcome.store / "store")
        _say(
            out,
            f"3/3  The truth: {truth['cause']} by {truth['subject']['kind']} {truth['subject']['name']}, on core "
            f"{truth['cpu']} was {truth['process']['name']} ({truth['process']['pid']}).",
        )


def _shipped(out: Console) -> None:
    from necroscope.cli.shared.sources import open_recording
    from necroscope.lab.shipped import incident

    _say(out, "An incident that was made on a real kernel, recorded, and shipped with the package. necroscope why:")
    with incident() as bundle, open_recording(None, bundle) as store:
        assert store is not None
        _explain(out, store)


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
