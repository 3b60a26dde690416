"""Verbs that read a recording in which nobody could look, or what was seen is lost: they say so, and exit with 3."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from necroscope.store.write.writer import Writer
from stage.incident import Played, at
from stage.program import Program
from stage.recorders import PROGRAM
from stage.small_disk import fill, small_disk

_LOST_END = "the recorder ended without a clean shutdown, and nothing later is in the recording"


def _cut_off(folder: Path, samples: bool = True) -> Path:
    """The store of a recorder that did not come to its end."""
    node = Played(2, 60)
    if samples:
        node.usual()
    node.happens(0.5, "recorder-started", "pid 1, boot x", "recorder", "recorder")
    return node.write(folder).folder


@pytest.mark.parametrize("verb", [("why",), ("why", "--all"), ("events",)])
def test_a_lost_end_is_inconclusive(necroscope: Program, tmp_path: Path, verb: tuple[str, ...]) -> None:
    made = necroscope(*verb, "--store", str(_cut_off(tmp_path)))
    assert made.code == 3
    assert _LOST_END in " ".join((made.out + made.err).split())
    assert necroscope(*verb, "-q", "--store", str(tmp_path)).code == 3


def test_json_says_it_too(necroscope: Program, tmp_path: Path) -> None:
    made = necroscope("why", "--json", "--store", str(_cut_off(tmp_path)))
    document = json.loads(made.out)
    assert (made.code, document["verdict"], document["cause"]) == (3, "unexplained", None)
    assert [_LOST_END in one["what"] for one in document["missing"]] == [True]


@pytest.mark.parametrize("verb", ["why", "events", "top", "flame", "heatmap"])
def test_a_store_that_holds_nothing_of_what_was_written_is_inconclusive(
    necroscope: Program, tmp_path: Path, verb: str
) -> None:
    Writer(tmp_path).close()
    made = necroscope(verb, "--store", str(tmp_path))
    assert (made.code, made.out) == (3, "")
    assert f"Nothing of what was to be written to {tmp_path} is there." in made.err


@pytest.mark.parametrize("verb", ["top", "flame"])
def test_a_window_of_which_little_was_recorded_says_how_much(necroscope: Program, tmp_path: Path, verb: str) -> None:
    store = str(_cut_off(tmp_path))
    window = ("--from", str(at(0) / 1e9), "--to", str(at(600) / 1e9))
    made = necroscope(verb, "--store", store, *window)
    assert made.code == 3
    assert necroscope(verb, "--store", store).code == 0
    if verb == "top":
        assert "only 1 min of it was recorded" in made.out


def test_of_a_window_json_tells_the_share_that_was_looked_at(necroscope: Program, tmp_path: Path) -> None:
    window = ("--from", str(at(0) / 1e9), "--to", str(at(600) / 1e9))
    made = necroscope("top", "--json", "--store", str(_cut_off(tmp_path)), *window)
    assert made.code == 3
    assert json.loads(made.out)["seen"] == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("verb", ["top", "flame"])
def test_a_recorder_without_samples_cannot_tell_who_ran(necroscope: Program, tmp_path: Path, verb: str) -> None:
    made = necroscope(verb, "--store", str(_cut_off(tmp_path, samples=False)))
    assert (made.code, made.out) == (3, "")
    assert "The store has no samples." in made.err


@pytest.mark.root
@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv (Debian: util-linux)")
def test_a_recorder_without_rights_does_not_say_that_nothing_happened(necroscope: Program, tmp_path: Path) -> None:
    no_rights = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    assert necroscope("record", "-q", "--for", "2s", "--store", tmp_path, before=no_rights).code == 0
    for options in ((), ("--all",), ("--json",)):
        made = necroscope("why", *options, "--store", tmp_path)
        assert made.code == 3, (options, made.out, made.err)
        said = " ".join((made.out + made.err).split())
        assert "symptoms, which come from the kernel's log" in said
        assert "who was on the cores" in said


@pytest.mark.root
def test_a_recorder_whose_disk_was_full_all_along_does_not_say_that_nothing_happened(
    necroscope: Program, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", "2m") as disk:
        started = subprocess.Popen([PROGRAM, "record", "-q", "--no-perf", "--store", str(disk / "store")])
        try:
            while not (disk / "store" / "lock").exists():
                time.sleep(0.05)
            fill(disk / "fill", for_s=2.0)
            time.sleep(4.0)
            os.kill(started.pid, signal.SIGTERM)
            assert started.wait(30) == 3
        finally:
            started.kill()
            started.wait()
        for verb in (("why",), ("why", "--all"), ("events",)):
            made = necroscope(*verb, "--store", str(disk / "store"))
            assert made.code == 3, (verb, made.out, made.err)
