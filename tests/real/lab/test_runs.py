"""Real runs of the lab: what happened, what is left in the store, and that nothing else is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stage.machine import NAME, picture
from stage.program import Program
from stage.recorders import ask

pytestmark = [pytest.mark.root]

PROGRAM = str(Path(sys.executable).parent / "necroscope")
# everything that a run can make, in little time
SCENARIO = """
import sys
import time

from necroscope.lab.actors.leaks import leaked_before
from necroscope.lab.scenario import Scenario, Subject, Truth
from necroscope.lab.scoring.checks import figure


def play(stage):
    node = stage.systemd("inner")
    leaked_before(stage, stage.cgroup("inner") / "system.slice" / "leaky.service", 200)
    stage.setting("/proc/sys/vm/stat_interval", "3")
    network = stage.network()
    actor = stage.spawn(echo, name="calm-otter", cpu=stage.cpu, cgroup=stage.cgroup("below"), network=network)
    victim = stage.victim()
    with stage.recording():
        with stage.episode():
            actor.cue("hello")
            stage.report.happened["answers"] = len(actor.answer())
        stage.symptom("ena 0000:00:05.0 eth0: Keep alive watchdog timeout.", after=(0, 0.1))
        stage.mark("half time", subject="test")
        print("STAGED", stage.cpu, flush=True)
        time.sleep(float(open(SLEEP).read()))
    return Truth("user-hog", Subject("process", actor.name), actor.name, actor.pid, stage.cpu, {"seen": True})


def echo():
    for line in sys.stdin:
        print(line.strip() * 2, flush=True)


SLEEP = "{sleep}"
scenario = Scenario(name="everything", summary="All at once.", play=play, cause="user-hog", subject="process", decoys=4,
                    shows=(figure("answers", "letters of the answer", at_least={letters}),))
"""


def scenarios(folder: Path, letters: int = 10, sleep: float = 0.0) -> Path:
    made = folder / "scenarios"
    made.mkdir()
    (folder / "sleep").write_text(str(sleep))
    text = SCENARIO.replace("{sleep}", str(folder / "sleep")).replace("{letters}", str(letters))
    (made / "everything.py").write_text(text)
    return made


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> str:
    made = f"necroscope-token-{os.getpid()}-{time.monotonic_ns()}"
    monkeypatch.setenv("NECROSCOPE_TEST_TOKEN", made)
    return made


def command(tmp_path: Path, folder: Path) -> list[str]:
    run = [PROGRAM, "lab", "run", "everything", "--scenarios", str(folder), "--for", "4s", "--beside"]
    return [*run, "--store", str(tmp_path / "out"), "--json"]


@pytest.mark.systemd
@pytest.mark.bpf
def test_a_run_tells_the_truth_and_leaves_nothing(tmp_path: Path, token: str) -> None:
    folder, before = scenarios(tmp_path), picture(token)
    ran = subprocess.run(command(tmp_path, folder), capture_output=True, text=True, timeout=170)
    assert ran.returncode == 0, ran.stderr
    after = picture(token)
    assert after == before, {name: vars(after)[name] ^ vars(before)[name] for name in vars(after)}

    truth: dict[str, Any] = json.loads((tmp_path / "out" / "truth.json").read_text())
    said = json.loads(ran.stdout[ran.stdout.index("{") :])
    assert said["truth"] == truth
    assert said["happened"] is True
    assert truth["cause"] == "user-hog"
    assert truth["subject"] == {"kind": "process", "name": "calm-otter"}
    assert truth["process"]["name"] == "calm-otter"
    assert truth["symptom"]["kind"] == "nic-reset"
    assert {decoy["decoy"] for decoy in truth["decoys"]} == {
        "steady-load", "page-faults", "crash-loop", "innocent-zombies",
    }  # fmt: skip
    assert truth["happened"]["answers"] == len("hellohello")
    assert truth["happened"]["seen"] is True

    store = tmp_path / "out" / "store"
    (symptom,) = ask(store, "select at, subject, text from events where source = 'kmsg'")
    assert "Keep alive watchdog" in symptom["text"]
    assert abs(_ns(store, "kmsg") - _utc_ns(truth["symptom"]["at"])) < 5_000_000
    (mark,) = ask(store, "select text, subject from events where source = 'mark' and kind = 'mark'")
    assert (mark["text"], mark["subject"]) == ("half time", "test")
    comms = {row["comm"] for row in ask(store, "select distinct comm from samples")}
    assert next(decoy["name"] for decoy in truth["decoys"] if decoy["decoy"] == "steady-load") in comms
    (zombies,) = ask(store, "select max(zombies) as most from zombies where parent like '%system.slice'")
    assert zombies["most"] >= 200


@pytest.mark.systemd
def test_what_does_not_show_is_told(tmp_path: Path) -> None:
    folder = scenarios(tmp_path, letters=11)
    ran = subprocess.run(command(tmp_path, folder), capture_output=True, text=True, timeout=170)
    assert ran.returncode == 1
    (shown,) = json.loads(ran.stdout[ran.stdout.index("{") :])["truth"]["happened"]["shown"]
    assert shown == {"text": "letters of the answer", "value": 10.0, "unit": "", "ok": False}


@pytest.fixture
def _nothing_stays() -> Iterator[None]:
    """Also where the test fails."""
    yield
    Program()("lab", "clean", "-q")


@pytest.mark.systemd
@pytest.mark.usefixtures("_nothing_stays")
@pytest.mark.parametrize(("sign", "times"), [(signal.SIGINT, 1), (signal.SIGINT, 3), (signal.SIGKILL, 1)])
def test_a_run_that_is_ended_early_leaves_nothing(tmp_path: Path, token: str, sign: signal.Signals, times: int) -> None:
    folder, before = scenarios(tmp_path, sleep=60), picture(token)
    run = subprocess.Popen(command(tmp_path, folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert run.stdout is not None
        assert run.stdout.readline().startswith("STAGED")
        staged = picture(token)
        assert any(NAME in path for path in staged.cgroups)
        assert len(staged.processes) > 5
        assert staged.links != before.links
        assert staged.settings != before.settings
        for _ in range(times):
            run.send_signal(sign)
            time.sleep(0.2)
        run.communicate(timeout=60)
    finally:
        run.kill()
        run.communicate()
    if sign == signal.SIGKILL:
        assert run.returncode == -9
        cleaned = Program()("lab", "clean", "--json")
        assert (cleaned.code, json.loads(cleaned.out)["runs"]) == (0, 1)
    else:
        assert run.returncode in (130, 128 + sign)
    after = picture(token)
    assert after == before, {name: vars(after)[name] ^ vars(before)[name] for name in vars(after)}


PLAYS = """
import os, signal, sys
from necroscope.lab.scenario import Scenario, Subject, Truth
from necroscope.lab.scoring.checks import figure

def play(stage):
    {play}

def sleeps():
    import time
    time.sleep(60)

scenario = Scenario("small", "Little.", play, {cause}, "process", decoys=0, shows=(figure("light", "light", 1.0),))
"""
RECORDS = "with stage.recording(): {}"


def _small(tmp_path: Path, play: str, cause: str | None = None) -> list[str]:
    made = tmp_path / "small"
    made.mkdir()
    (made / "small.py").write_text(PLAYS.replace("{play}", play).replace("{cause}", repr(cause)))
    run = [PROGRAM, "lab", "run", "small", "--scenarios", str(made), "--for", "3s", "--beside", "--disposable-machine"]
    return [*run, "--store", str(tmp_path / "out")]


@pytest.mark.parametrize(
    ("play", "code", "words"),
    [
        ("raise ValueError('no light')", 2, "small broke off: ValueError: no light"),
        ("assert stage.cpu < 0", 2, "small broke off: AssertionError"),
        ("sys.exit(0)", 2, "small broke off: it exits"),
        ("return None", 2, "small broke off: it returns NoneType, not a Truth"),
        ("return Truth(None)", 2, "small broke off: nothing was recorded"),
        ("stage.spawn(sleeps, object())", 2, "small broke off: TypeError"),
    ],
)
def test_a_play_that_breaks_off_is_told_and_leaves_nothing(
    tmp_path: Path, token: str, play: str, code: int, words: str
) -> None:
    before = picture(token)
    ran = subprocess.run(_small(tmp_path, play), capture_output=True, text=True, timeout=100)
    assert (ran.returncode, ran.stdout) == (code, "")
    assert words in ran.stderr
    assert f"hint: see {tmp_path}/small/small.py" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert picture(token) == before


@pytest.mark.parametrize(
    ("play", "cause", "words"),
    [
        ("pass\n    return Truth('user-hog')", None, "its truth is 'user-hog', and the scenario says None"),
        ("pass\n    return Truth('user-hog')", "user-hog", "its truth has a cause and no Subject"),
        ("os.kill(stage.spawn(sleeps).pid, signal.SIGKILL)\n    return Truth(None)", None, "did not live to its end"),
    ],
)
def test_a_truth_that_cannot_be_right_is_refused(tmp_path: Path, play: str, cause: str | None, words: str) -> None:
    ran = subprocess.run(_small(tmp_path, RECORDS.format(play), cause), capture_output=True, text=True, timeout=100)
    assert ran.returncode == 2
    assert words in ran.stderr


def test_what_was_not_measured_is_told_as_that(tmp_path: Path) -> None:
    command = _small(tmp_path, RECORDS.format("pass\n    return Truth(None)"))
    ran = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=100)
    assert ran.returncode == 1
    truth = json.loads(ran.stdout, parse_constant=pytest.fail)["truth"]
    assert truth["happened"]["shown"] == [{"text": "light", "value": None, "unit": "", "ok": False}]


def test_nobody_can_be_told_and_nothing_is_left(tmp_path: Path, token: str) -> None:
    before = picture(token)
    command = _small(tmp_path, "stage.shm()\n    raise ValueError('no light')")
    with open("/dev/full", "w") as full:
        assert subprocess.run(command, stdout=full, stderr=full, timeout=100).returncode != 0
    assert picture(token) == before


def test_a_recording_that_does_not_hold_the_symptom_is_none(tmp_path: Path) -> None:
    end = "stage.recorder.kill(); stage.symptom('ena 0000:00:05.0 eth0: Keep alive watchdog timeout.', after=(0, 0.1))"
    command = _small(tmp_path, RECORDS.format(f"{end}\n    return Truth(None)"))
    ran = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert ran.returncode == 3
    assert "the recording does not hold the symptom" in ran.stderr
    assert not (tmp_path / "out" / "truth.json").exists()


def _ns(store: Path, source: str) -> int:
    (row,) = ask(store, f"select at_ns from events where source = '{source}'")
    return int(row["at_ns"])


def _utc_ns(text: str) -> int:
    from datetime import datetime

    return round(datetime.fromisoformat(text).timestamp() * 1000) * 1_000_000
