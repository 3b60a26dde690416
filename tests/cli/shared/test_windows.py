"""The options of a window, as one argument."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from necroscope.cli.shared.windows import window_options
from necroscope.clock import NS
from necroscope.query.select import Wanted
from stage.recorded import START_NS


@click.command()
@click.option("--other", default=0)
@window_options
def verb(wanted: Wanted, other: int) -> None:
    click.echo(repr((wanted, other)))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], Wanted()),
        (["--cpu", "3"], Wanted(cpus=frozenset({3}))),
        (["--cpu", "0-2,7"], Wanted(cpus=frozenset({0, 1, 2, 7}))),
        (["--from", "1767323045", "--to", "1767323045.5"], Wanted(from_ns=START_NS, to_ns=START_NS + NS // 2)),
        (["--event", "7", "--before", "500ms", "--after", "2m"], Wanted(event="7", before_s=0.5, after_s=120.0)),
        (["--process", "a", "--process", "7", "--thread", "5"], Wanted(processes=("a", "7"), threads=(5,))),
        (["--cgroup", "/x", "--event-type", "cycles"], Wanted(cgroups=("/x",), event_types=("cycles",))),
    ],
)
def test_options_come_as_one_argument(arguments: list[str], expected: Wanted) -> None:
    ran = CliRunner().invoke(verb, [*arguments, "--other", "4"])
    assert ran.output.strip() == repr((expected, 4))


@pytest.mark.parametrize("cores", ["", "x", "3-", "-3", "5-3", "1,,2", "9999999"])
def test_what_names_no_cores(cores: str) -> None:
    ran = CliRunner().invoke(verb, ["--cpu", cores])
    assert ran.exit_code == 2
    assert "names no cores" in ran.output
