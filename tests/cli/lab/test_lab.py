"""`necroscope lab`: what it lists, describes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from necroscope.lab import catalogue, runner
from stage.program import Program

OWN = """
from necroscope.lab.scenario import Need, Scenario, Show, Truth
scenario = Scenario(
    name="mine", summary="What I made.", play=lambda stage: Truth(None), cause=None,
    needs=(Need("a moon", lambda: "a moon above the machine"),),
    shows=(Show("light", lambda stage: 1.0, at_least=0.5, unit="lux"),),
)
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(OWN)
    return tmp_path


def test_list_has_every_scenario_with_its_truth(necroscope: Program, own: Path) -> None:
    ran = necroscope("lab", "list", "--json", "--scenarios", own)
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["schema"] == "necroscope.lab.list/1"
    rows = {row["name"]: row for row in document["scenarios"]}
    assert rows["seeds-incident"]["truth"] == {
        "cause": "zombie-memcg", "subject": {"kind": "unit", "name": None}, "verdict": "explained", "innocent": True,
    }  # fmt: skip
    assert rows["healthy-idle"]["truth"]["cause"] is None
    assert rows["mine"]["missing"][-1] == "a moon above the machine"
    table = necroscope("lab", "list", "--scenarios", own).out
    assert "seeds-incident" in table
    assert "What I made." in table


def test_describe_tells_what_it_must_show(necroscope: Program, own: Path) -> None:
    ran = necroscope("lab", "describe", "mine", "--scenarios", own)
    assert ran.code == 0
    assert "the right verdict is unexplained" in ran.out
    assert "light: at least 0.5 lux" in ran.out
    assert "a moon above the machine" in ran.out
    shows = json.loads(necroscope("lab", "describe", "mine", "--scenarios", own, "--json").out)["shows"]
    assert shows == [{"text": "light", "at_least": 0.5, "at_most": None, "unit": "lux"}]


def test_what_cannot_be_played_is_refused_with_its_need(necroscope: Program, own: Path, tmp_path: Path) -> None:
    arguments = ("lab", "run", "mine", "--scenarios", own, "--store", tmp_path / "out", "--disposable-machine")
    ran = necroscope(*arguments)
    assert ran.code == 3
    assert "a moon above the machine" in ran.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lab", "run", "nothing"), "There is no scenario 'nothing'"),
        (("lab", "describe", "seed-incident"), "did you mean seeds-incident"),
        (("lab", "describe", "nothing"), "There is no scenario 'nothing'"),
        (("lab", "list", "--scenarios", "/nowhere/at/all"), "/nowhere/at/all is not a folder"),
        (("lab", "score", "--seeds", "1,x"), "'1,x' are no seeds"),
        (("lab", "score", "--seeds", "9-1", "--recorded", "/nowhere/at/all"), "'9-1' are no seeds"),
        (("lab", "score", "--seeds", "1-99999999999"), "'1-99999999999' are too many seeds; 10,000 are the most"),
        (("lab", "score", "--recorded", "/nowhere/at/all"), "/nowhere/at/all holds no recorded runs"),
        (("lab", "score", "--recorded", "/tmp", "--for", "45s"), "and --for would be ignored"),
        (("lab", "score", "--recorded", "/tmp", "--store", "/tmp/x"), "and --store would be ignored"),
        (("lab", "score", "--recorded", "/tmp", "--scenarios", "/tmp"), "and --scenarios would be ignored"),
        (("lab", "score", "--recorded", "/tmp", "--disposable-machine"), "--disposable-machine would be ignored"),
    ],
)
def test_bad_usage(necroscope: Program, arguments: tuple[str, ...], message: str) -> None:
    ran = necroscope(*arguments)
    assert ran.code == 2
    assert message in ran.err


def test_a_score_of_nothing_is_no_score(necroscope: Program, own: Path) -> None:
    ran = necroscope("lab", "score", "--only", "mine", "--scenarios", own, "--disposable-machine")
    assert (ran.code, ran.out) == (3, "")
    assert "none of them can be played here: mine cannot be played here without" in ran.err
    assert "a moon above the machine" in ran.err


BREAKS_OFF = """
from necroscope.errors import NecroscopeError
from necroscope.lab.scenario import Scenario

def play(stage):
    raise NecroscopeError("the curtain fell")

scenario = Scenario(name="torn", summary="Breaks off.", play=play, cause=None)
"""


@pytest.mark.root
def test_a_run_that_breaks_off_is_in_the_score(necroscope: Program, own: Path) -> None:
    if lacking := runner.missing(catalogue.find("healthy-idle")):
        pytest.skip(f"needs {'; '.join(lacking)}")
    (own / "torn.py").write_text(BREAKS_OFF)
    arguments = ("lab", "score", "--only", "torn", "--only", "mine", "--scenarios", own, "--disposable-machine")
    ran = necroscope(*arguments, "--json", timeout_s=230)
    assert ran.code == 1
    document = json.loads(ran.out)
    (run,) = document["runs"]
    assert (run["scenario"], run["happened"], run["because"]) == ("torn", False, "it broke off: the curtain fell")
    (absent,) = document["left_out"]
    assert absent["scenario"] == "mine"
    assert "torn, seed 1: did not happen: it broke off: the curtain fell" in ran.err


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two recorded runs that nobody can ask about; of the second, not everything was shown."""
    shown = [
        {"text": "light", "value": 0.25, "unit": "lux", "ok": False},
        {"text": "dark", "value": 1.0, "unit": "", "ok": True},
    ]
    for name, seed, demands in (("dawn", 201, shown[1:]), ("dusk", 202, shown)):
        truth = {"schema": "necroscope.lab.truth/1", "scenario": name, "seed": seed, "symptom": None, "cause": None}
        truth |= {"subject": None, "cpu": None, "happened": {"shown": demands}}
        (tmp_path / f"{name}-{seed}").mkdir()
        (tmp_path / f"{name}-{seed}" / "truth.json").write_text(json.dumps(truth))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("--only", "nosuch"), "holds no run of 'nosuch'", "known are dawn, dusk"),
        (("--only", "dawn", "--only", "nosuch"), "holds no run of 'nosuch'", "known are dawn, dusk"),
        (("--seeds", "1-9"), "holds no run with these seeds", "known are 201, 202"),
        (("--only", "dawn", "--seeds", "202"), "holds no run of dawn with these seeds", "known are 201"),
    ],
)
def test_runs_that_were_not_recorded_are_told(
    necroscope: Program, runs: Path, arguments: tuple[str, ...], message: str, hint: str
) -> None:
    ran = necroscope("lab", "score", "--recorded", runs, *arguments)
    assert (ran.code, ran.out, ran.err) == (2, "", f"necroscope: {runs} {message}\n  hint: {hint}\n")


def test_what_did_not_happen_is_told_and_not_counted(necroscope: Program, runs: Path) -> None:
    ran = necroscope("lab", "score", "--recorded", runs, columns=160)
    assert ran.code == 1
    assert "did not show: light (0.25 lux); why gave no answer" in ran.out
    assert ran.out.endswith("1 no answer; 1 did not happen\n")


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("import sys; sys.exit(5)", 2, "bad.py cannot be loaded: SystemExit: 5\n"),
        ("raise KeyboardInterrupt", 2, "bad.py cannot be loaded: KeyboardInterrupt\n"),
        ("import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", 130, "stopped.\n"),
    ],
)
def test_a_file_that_wants_to_leave_and_a_user_who_does(
    necroscope: Program, tmp_path: Path, text: str, code: int, words: str
) -> None:
    (tmp_path / "bad.py").write_text(text)
    ran = necroscope("lab", "list", "--scenarios", tmp_path)
    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err


def test_clean_with_nothing_to_clean(necroscope: Program) -> None:
    ran = necroscope("lab", "clean")
    assert (ran.code, ran.out) == (0, "nothing was left behind\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"schema": "necroscope.lab.truth/2"},
            "is a 'necroscope.lab.truth/2', this version reads",
        ),
        ({"happened": {}}, "is damaged, or is not the truth of a run"),
        ({"happened": {"shown": [{"text": "light", "value": "0.25", "unit": "lux", "ok": False}]}}, "is damaged"),
        ({"cause": "user-hog"}, "is damaged"),
        ({"symptom": {"kind": "nic-reset"}}, "is damaged"),
        ({"seed": "one"}, "is damaged"),
        ({"cpu": "0"}, "is damaged"),
        ({"asked_at_once": {}}, "is damaged"),
        ({"asked_at_once": {"answered_s": "soon", "cause": None}}, "is damaged"),
        ({"asked_at_once": {"answered_s": 1.0, "cause": {"subject": 7}}}, "is damaged"),
    ],
)
def test_a_truth_that_is_none_is_refused(
    necroscope: Program, runs: Path, change: dict[str, object], message: str
) -> None:
    path = runs / "dawn-201" / "truth.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    ran = necroscope("lab", "score", "--recorded", runs)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"necroscope: {path} {message}")
    assert ran.err.endswith("  hint: take the run's folder away, or play it again\n")


@pytest.mark.parametrize("text", ["", "[]", "7", '{"schema"', "\xff", "[" * 9999])
def test_a_truncated_truth_is_refused(necroscope: Program, runs: Path, text: str) -> None:
    (runs / "dusk-202" / "truth.json").write_bytes(text.encode("latin-1"))
    ran = necroscope("lab", "score", "--recorded", runs)
    assert (ran.code, ran.out) == (2, "")
    assert "truth.json is damaged" in ran.err
