"""`necroscope config`."""

from __future__ import annotations

from pathlib import Path

import click

from necroscope.cli.shared.options import config_option


@click.group()
def config() -> None:
    """The settings: those in force, those there are, and whether a file is right.

    \b
    Examples:
      necroscope config show
      necroscope config check --config ./necroscope.toml
      necroscope config default > /etc/necroscope/necroscope.toml
    """


@config.command()
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (schema in docs/json.md).")
def show(config_file: Path | None, as_json: bool) -> None:
    """What is in force: defaults, file and environment together.

    \b
    Example:
      necroscope config show --json | jq .settings.store
    """
    import json

    from necroscope import config as settings
    from necroscope.show.settings.toml import document, in_force

    found = settings.load(config_file)
    click.echo(json.dumps(document(found), indent=2) if as_json else in_force(found), nl=as_json)


@config.command()
@config_option
def check(config_file: Path | None) -> None:
    """Whether file and environment can be used; exit code 2 and the nearest name for what is not known.

    \b
    Example:
      necroscope config check --config ./necroscope.toml
    """
    from necroscope import config as settings
    from necroscope.record.plan import check_skipped

    found = settings.load(config_file)
    check_skipped(found.record.skip)
    place = config_file or (settings.DEFAULT_FILE if settings.DEFAULT_FILE.is_file() else None)
    click.echo(f"{place} is fine." if place else "There is no file; the environment and the defaults are fine.")


@config.command()
def default() -> None:
    """A file with every setting, what it means and its default, all commented out.

    \b
    Example:
      necroscope config default > /etc/necroscope/necroscope.toml
    """
    from necroscope.show.settings.toml import defaults

    click.echo(defaults(), nl=False)
