"""The actions are written down, each with everything that the code says of it."""

from __future__ import annotations

import re
from pathlib import Path

import click

from necroscope.act.planning.catalogue import ACTIONS
from necroscope.act.steps import KINDS
from necroscope.cli.main import main
from stage.plans import WORLDS, planned

PAGE = (Path(__file__).parents[3] / "docs" / "fixing.md").read_text("utf-8")


def test_the_table_of_actions_is_that_of_the_code() -> None:
    rows = [re.split(r" (?<!\\)\| ", line.strip("| ")) for line in PAGE.splitlines() if re.match(r"\| `[a-z-]+ ", line)]
    told = [
        (f"`{one.name} {one.subject}`", one.effect, one.precondition, one.risk, one.cost, one.undo, one.not_achieved)
        for one in ACTIONS
    ]
    assert [tuple(row) for row in rows] == told


def test_help_names_every_action() -> None:
    command = main.get_command(click.Context(main), "fix")
    assert command is not None
    assert [one.name for one in ACTIONS if one.name not in (command.help or "")] == []


def test_every_action_has_a_plan_and_every_kind_of_step_is_in_one(tmp_path: Path) -> None:
    kinds = {
        step.kind for number, one in enumerate(WORLDS) for step in planned(one, tmp_path / f"{number}.json")[2].steps
    }
    assert kinds == set(KINDS)
    assert {one.split()[0] for one in WORLDS} == {one.name for one in ACTIONS}


def test_a_plan_says_each_of_its_changes_and_checks_the_boot_at_least(tmp_path: Path) -> None:
    for number, one in enumerate(ACTIONS):
        for step in planned(one.name, tmp_path / f"{number}.json")[2].steps:
            assert step.says
            assert "boot" in {condition.kind for condition in step.conditions}, (one.name, step.kind)
