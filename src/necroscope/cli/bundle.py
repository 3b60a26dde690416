"""`necroscope bundle`."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import click

from necroscope.cli.options import console, output_options


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--now", is_flag=True, required=True, help="Capture this instant (recordings come later).")
@click.option("--with-arguments", is_flag=True, help="Include the command lines of processes; they may hold secrets.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@output_options
def bundle(
    file: Path, now: bool, with_arguments: bool, force: bool, as_json: bool, no_color: bool, quiet: bool
) -> None:
    """Put everything about this instant into one FILE, for a ticket or a colleague.

    Takes an allow-list of kernel files, the names of the zombies, units and containers, and the kernel log. No
    environment; no command-line arguments unless asked for. The last log lines of failing units and the kernel log are
    in it: look before you share. Any verb reads it with --bundle FILE, on any machine.

    \b
    Examples:
      necroscope bundle --now node7.ncb
      necroscope scan --bundle node7.ncb
    """
    import json

    from necroscope.quantity import plural, size
    from necroscope.sense.host import Host
    from necroscope.show.plain import plain
    from necroscope.store.bundle import pack
    from necroscope.store.capture import capture

    if file.exists() and not force:
        raise click.UsageError(f"{file} exists; name another file, or add --force")
    out = console(no_color, stderr=True)
    with out.status("capturing this host") if out.is_terminal and not quiet else nullcontext():
        packed = pack(capture(Host(), with_arguments), file)
    if quiet:
        return
    if as_json:
        document = {"schema": "necroscope.bundled/1", "file": str(file), "files": packed.files, "bytes": packed.bytes}
        click.echo(json.dumps(document))
    else:
        click.echo(f"{plain(str(file))}: {plural(packed.files, 'file')}, {size(packed.bytes)}")
        click.echo(f"read it with: necroscope scan --bundle {plain(str(file))}")
