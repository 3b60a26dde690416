"""`necroscope fix` as users meet it: what it refuses to understand, what it says without rights, and its documents."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from stage.program import Program

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--history", "--undo", "fix-00000000"), "exclude each other"),
        (("--history", "stop-unit"), "exclude each other"),
        (("--undo", "fix-00000000", "--yes"), "no plan fix-00000000"),
        (("stop-process", "1", "--apply", "--json"), "--json asks nobody"),
        (("stop-unit", "x.service", "--yes"), "--yes belongs to --apply"),
        (("--undo", "fix-00000000"), "no plan fix-00000000"),
        (("--undo", "../x"), "is no id of a plan"),
        (("fix-00000000",), "There is no plan fix-00000000"),
        (("stop-unit",), "stop-unit needs UNIT"),
        (("free-zombies", "x"), "no path of a cgroup"),
        (("stop-process", "0x1"), "no pid"),
        (("reboot", "other"), "reboot is about this node"),
    ],
)
def test_what_cannot_be_meant_is_bad_input(
    necroscope: Program, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    ran = necroscope("fix", "--state", tmp_path / "state", *arguments)
    assert ran.code == 2, ran.err
    assert said in ran.err
    assert "hint: " in ran.err


def test_without_a_recording_there_is_nothing_to_follow(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("fix", "--store", tmp_path, "--state", tmp_path / "state")
    assert ran.code == 2
    assert str(tmp_path) in ran.err


@pytest.mark.root
def test_a_plan_is_shown_kept_and_not_carried_out_unasked(necroscope: Program, tmp_path: Path) -> None:
    state = tmp_path / "state"
    ran = necroscope("fix", "reboot", "--json", "--state", state)
    assert ran.code == 0, ran.err
    plan = ran.document
    assert (plan["schema"], plan["ending"], plan["undoable"]) == ("necroscope.fix/1", "planned", False)
    assert [step["kind"] for step in plan["steps"]] == ["reboot"]
    assert (state.stat().st_mode & 0o777, [one.name for one in (state / "plans").iterdir()]) == (
        0o700,
        [f"{plan['id']}.json"],
    )
    unasked = necroscope("fix", plan["id"], "--apply", "--state", state)
    assert unasked.code == 2
    assert "nobody to ask" in unasked.err
    assert not list((state / "journal").iterdir())
    history = necroscope("fix", "--history", "--state", state)
    assert (history.code, history.out.strip()) == (0, "Nothing was ever changed here by necroscope fix.")
    assert necroscope("fix", "--history", "--json", "--state", state).document["plans"] == []
    nothing = necroscope("fix", "--resume", "--state", state)
    assert (nothing.code, nothing.out.strip()) == (0, "Nothing was interrupted here.")


@pytest.mark.root
def test_a_plan_of_another_boot_is_refused(necroscope: Program, tmp_path: Path) -> None:
    state, process = tmp_path / "state", subprocess.Popen(["sleep", "100"])
    try:
        plan = necroscope("fix", "stop-process", process.pid, "--json", "--state", state).document
        path = state / "plans" / f"{plan['id']}.json"
        kept = json.loads(path.read_text())
        for change, said in (
            ({"boot_id": "another"}, "before this boot"),
            ({"expires_ns": kept["made_ns"]}, "has expired"),
        ):
            path.write_text(json.dumps({**kept, **change}))
            ran = necroscope("fix", plan["id"], "--apply", "--yes", "--state", state)
            assert ran.code == 3
            assert said in ran.err
            assert process.poll() is None
    finally:
        process.kill()
        process.wait()


@pytest.mark.root
def test_a_finding_that_is_not_there(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("fix", "no-such-finding", "--state", tmp_path / "state")
    assert ran.code == 2
    assert "finds no no-such-finding" in ran.err
    assert "disable-unit" in ran.err


@pytest.mark.root
def test_the_recording_of_another_node_makes_no_plan(necroscope: Program, tmp_path: Path) -> None:
    from necroscope.store.bundle.archive import unpack

    bundle = Path(__file__).parents[2] / "incidents" / "seeds-incident.ncb"
    unpack(bundle, tmp_path / "b")
    ran = necroscope("fix", "--store", tmp_path / "b" / "necroscope" / "store", "--state", tmp_path / "state")
    assert ran.code == 3
    assert "cannot be told which boot" in ran.err or "another boot" in ran.err


@pytest.mark.root
def test_a_plan_is_read_at_eighty_columns(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("fix", "reboot", "--state", tmp_path / "state", columns=80)
    assert max(map(len, ran.out.splitlines())) <= 80
    lines = ran.out.splitlines()
    assert "Nothing has been changed" in lines
    assert lines.index("What would change, in this order") < lines.index("What to know")


@pytest.mark.root
def test_without_rights_it_says_so(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("fix", "free-zombies", "/system.slice", "--state", "/proc/none", before=NOBODY)
    assert ran.code == 3, ran.out + ran.err
    assert "hint: " in ran.err
