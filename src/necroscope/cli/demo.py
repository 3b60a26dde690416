"""`necroscope demo`."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.options import console

if TYPE_CHECKING:
    from rich.console import Console

ZOMBIES = {"tmpfs": 220, "page-cache": 60, "anon": 20}


@click.command()
@click.option("--no-color", is_flag=True, help="No colours.")
def demo(no_color: bool) -> None:
    """Make a few hundred real zombie cgroups, scan this node, clean up. Under half a minute; leaves nothing behind.

    Needs root. Without it, this node is scanned as far as that goes, and then a captured one: the node of the published
    incident, rebuilt from its figures.

    \b
    Example:
      sudo necroscope demo
    """
    from necroscope.errors import Unavailable

    out = console(no_color)
    try:
        _live(out)
    except Unavailable as error:
        _say(out, f"No zombies can be made here: {error.message}.")
        _captured(out)


def _live(out: Console) -> None:
    from necroscope.cli.reports import write_scan
    from necroscope.config import Config, ZombieLimits
    from necroscope.errors import Unavailable
    from necroscope.lab.zombies import ZombieFarm, clean, leftovers, own_name
    from necroscope.scan import Scanner
    from necroscope.sense.host import Host

    if os.geteuid() != 0:
        raise Unavailable("that needs root")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything is cleaned up
    for name in leftovers():
        clean(name)
    with ZombieFarm(own_name("demo")) as farm:
        _say(out, "1/3  Something crash-loops: each run gets a cgroup, leaves a page of memory behind, and dies.")
        with out.status("making zombies") if out.is_terminal else nullcontext():
            farm.make("tmpfs", ZOMBIES["tmpfs"], "jobs", "<id>")
            farm.make("page-cache", ZOMBIES["page-cache"], "jobs", "report-<n>")
            farm.make("anon", ZOMBIES["anon"], "pool", "worker-<n>")
        made = sum(ZOMBIES.values())
        _say(out, f"2/3  {made} cgroups were made and removed: `ls` shows none, the kernel keeps all. necroscope scan:")
        # a few hundred are nothing to worry about on a node; here they shall show
        write_scan(Scanner(Host(), Config(zombies=ZombieLimits(warning=100))).scan(), out)
        left = farm.clean()
    gone = {0: ": all of them are gone", None: ""}.get(left, f": {left} of them are still being released")
    _say(out, f"3/3  What pinned them was taken away{gone}.")
    out.print("Next: `necroscope scan` on a node that misbehaves; `necroscope scan --help` for the rest.")


def _captured(out: Console) -> None:
    from necroscope.cli.reports import write_scan
    from necroscope.config import Config
    from necroscope.lab.captured import incident_text, lay_out
    from necroscope.scan import Scanner
    from necroscope.sense.host import Host

    _say(out, "1/2  This node, as far as it can be seen:")
    write_scan(Scanner(Host(), Config()).scan(), out)
    _say(out, "2/2  A captured node, rebuilt from the figures of a published incident:")
    with tempfile.TemporaryDirectory(prefix="necroscope-demo-") as folder:
        write_scan(Scanner(Host(lay_out(incident_text(), Path(folder))), Config()).scan(), out)


def _say(out: Console, text: str) -> None:
    from rich.text import Text

    out.print()
    out.print(Text(text, style="bold magenta"))
    out.print()
