"""`necroscope verify`."""

from __future__ import annotations

from pathlib import Path

import click

from necroscope.cli.shared.options import output_options
from necroscope.cli.shared.progress import progress
from necroscope.cli.shared.sources import store_options
from necroscope.errors import BadInput

_EXIT = {"intact": 0, "damaged": 1, "cannot-tell": 3}


@click.command()
@store_options
@click.option(
    "--set-aside", is_flag=True, help="Move damaged segments to the store's folder aside/. Nothing is deleted."
)
@output_options
@click.pass_context
def verify(
    context: click.Context,
    store: Path | None,
    set_aside: bool,
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> int:
    """Is the recording what was recorded? Reads every byte, and compares it with what the segments' manifests say.

    Exit code 0: intact. 1: something is damaged or lost. 2: this is no store. 3: nothing is damaged as far as can be
    told, but parts cannot be verified: those of earlier versions have no manifest, others may not be readable.

    \b
    Examples:
      necroscope verify
      necroscope verify --store /var/lib/necroscope --set-aside
      necroscope verify --bundle incident.ncb --json | jq .damaged
    """
    from necroscope.show.verify import verdict, verify_document, verify_lines
    from necroscope.store.place import to_read
    from necroscope.store.read.check import check_store

    packed = context.params.get("bundle") is not None
    if set_aside and packed:
        raise BadInput("Nothing of a bundle can be set aside.", "leave --set-aside out, and make the bundle again")
    with progress("verifying", no_color, quiet or as_json) as on_progress:
        found = check_store(to_read(store), on_progress, set_aside)
    if packed:
        # Unpacking verified the checksum over all of it.
        found.unverifiable.clear()
    if as_json and not quiet:
        import json

        click.echo(json.dumps(verify_document(found), indent=2))
    elif not quiet:
        click.echo("\n".join(verify_lines(found)))
    return _EXIT[verdict(found)]
