"""`validate`: exit codes, waiting, marks, bad input, what a person reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.clock import iso
from stage.changed_node import LEAKER, ChangedNode
from stage.incident import at
from stage.program import Program


@pytest.fixture
def program() -> Program:
    return Program()


def test_the_latest_marked_change_is_judged(program: Program, tmp_path: Path) -> None:
    ChangedNode().write(tmp_path / "store")
    ran = program("validate", "--store", tmp_path / "store", "--for", "50s", "--json")
    assert (ran.code, ran.err) == (0, "")
    document = ran.document
    assert (document["schema"], document["outcome"], document["healed_only"]) == (
        "necroscope.validate/1",
        "pass",
        False,
    )
    assert document["change"] == {"at": iso(at(60)), "text": "change: stopped the unit"}
    assert document["leaker"] == {"kind": "unit", "name": LEAKER}
    assert {name: one["outcome"] for name, one in document["answers"].items()} == {
        "growth": "pass",
        "symptoms": "pass",
        "residue": "pass",
    }
    assert document["after"]["zombies"][-1] == [iso(at(110)), 130]
    assert document["after"]["covered"] == 1.0


def test_a_failure_is_told_on_one_screen(program: Program, tmp_path: Path) -> None:
    node = ChangedNode(leaks_until=120)
    for moment in (10, 22, 34, 46, 58):
        node.happens(moment, "nic-reset", subject="eth0", text="ena: reset", device="eth0")
    node.write(tmp_path / "store")
    ran = program("validate", "--store", tmp_path / "store", "--for", "50s", columns=80)
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0] == "NOT FIXED: the symptom is gone, and its cause is not"
    assert lines[1] == f"  Change: change: stopped the unit at {iso(at(60))}"
    assert f"    the leak goes on: unit {LEAKER} still leaves cgroups behind" in lines
    assert max(map(len, lines)) <= 80
    assert program("validate", "--store", tmp_path / "store", "--for", "50s", "-q").out == ""


def test_blind_is_three(program: Program, tmp_path: Path) -> None:
    ChangedNode(looks_until=60).write(tmp_path / "store")
    ran = program("validate", "--store", tmp_path / "store", "--for", "50s", "--change", "stopped the")
    assert (ran.code, ran.out.splitlines()[0]) == (3, "INCONCLUSIVE")


def test_a_store_that_nobody_writes_is_not_waited_for(program: Program, tmp_path: Path) -> None:
    """A recorder that was killed: an hour that never comes."""
    ChangedNode(seconds=90).write(tmp_path / "store", live=True)
    ran = program("validate", "--store", tmp_path / "store", "--for", "1h", timeout_s=30)
    assert ran.code in (0, 3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--for", "0s"), "--for is too short"),
        (("--change", "no such mark"), "is neither a mark nor a time"),
        (("--change", "2099-01-01"), "before the change"),
        (("--store", "/nowhere"), ""),
    ],
)
def test_bad_input(program: Program, tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    ChangedNode(seconds=30, change_s=15).write(tmp_path / "store")
    ran = program("validate", "--store", tmp_path / "store", *arguments)
    assert ran.code == 2
    assert words in ran.err


def test_hostile_names_cannot_move_a_cursor(program: Program, tmp_path: Path) -> None:
    node = ChangedNode(name="evil\x1b[2J\x07.service", leaks_until=120)
    node.happens(70, "job-failed", "mark", subject="x\x1b[31m", text="failed\x1b]0;t\x07")
    node.happens(61, "change", "mark", text="\x1b[5mfix\r\n")
    node.write(tmp_path / "store")
    for arguments in ((), ("--json",)):
        ran = program("validate", "--store", tmp_path / "store", "--for", "50s", *arguments)
        assert ran.code == 1
        assert not {char for char in ran.out + ran.err if not char.isprintable()} - {"\n"}
