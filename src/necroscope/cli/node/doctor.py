"""`necroscope doctor`."""

from __future__ import annotations

from pathlib import Path

import click

from necroscope.cli.shared.options import config_option, console, output_options


@click.command()
@click.option("--store", type=click.Path(path_type=Path, file_okay=False), help="Where would be recorded to.")
@config_option
@output_options
def doctor(store: Path | None, config_file: Path | None, as_json: bool, no_color: bool, quiet: bool) -> int:
    """Can this node be recorded? What is blind and why, how to change that, what it costs, how long the store lasts.

    Records for a few seconds, to a temporary folder, with everything that `record` uses; the cost is that of the last
    two of them. A kubelet whose cgroup driver differs from its runtime's is told. Changes nothing.

    Exit codes: 0 it can, 1 something is wrong, 3 what a verdict needs cannot be seen.

    \b
    Examples:
      necroscope doctor
      necroscope doctor --store /var/lib/necroscope --json | jq '.checks[] | select(.grade != "fine")'
    """
    import json

    from necroscope.record.doctor.examination import examine, summary
    from necroscope.record.service.settings import trusted
    from necroscope.sense.host import Host
    from necroscope.show.doctor.text import document, print_checkup
    from necroscope.store.place import to_write

    found = examine(Host(), trusted(config_file), to_write(store))
    if as_json:
        click.echo(json.dumps(document(found), indent=2))
    elif not quiet:
        print_checkup(found, summary(found), console(no_color))
    return found.exit_code
