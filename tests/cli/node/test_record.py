"""`necroscope record` as users see it: its line, its words, its end."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from necroscope.cli.node.record import line
from necroscope.record.recorder import RecorderStatus, Trouble
from stage.processes import wait_for
from stage.program import Program
from stage.recorders import PROGRAM, events_of, recorder, stop

pytestmark = pytest.mark.slow

STATUS = RecorderStatus(
    seconds=3725.0,
    samples=1000,
    samples_per_s=12416.0,
    lost=3,
    symptoms=2,
    cpu_share=0.0123,
    rss_bytes=120 << 20,
    bytes=5 << 30,
    bytes_per_s=51_200.0,
    hours_left=48.0,
    troubles=(),
)


def test_the_whole_line() -> None:
    assert line(STATUS) == (
        "recording 1 h 2 min · 12,416 samples/s · 3 lost · 5.0 GiB · 50.0 KiB/s · 1.2 % of a core · 120 MiB memory"
        " · holds 48 h · 2 symptoms"
    )


def test_on_a_narrow_terminal_the_less_important_goes() -> None:
    assert line(STATUS, 77) == "recording 1 h 2 min · 12,416 samples/s · 3 lost · 50.0 KiB/s · 2 symptoms"
    blind = replace(STATUS, symptoms=None, troubles=(Trouble("no samples", ""), Trouble("symptoms unknown", "")))
    assert line(blind, 77) == "recording 1 h 2 min · 12,416 samples/s · no samples · symptoms unknown"
    for width in range(1, 140):
        assert len(line(blind, width)) <= width


def test_symptoms_that_are_not_known_are_not_none() -> None:
    blind = replace(STATUS, symptoms=None, troubles=(Trouble("symptoms unknown", "the log cannot be read"),))
    assert "2 symptoms" not in line(blind)
    assert line(blind).endswith(" · symptoms unknown")


def test_help_names_the_place(necroscope: Program) -> None:
    words = " ".join(necroscope("record", "--help").out.split())
    assert "$NECROSCOPE_STORE, else /var/lib/necroscope for root" in words


def test_without_perf_one_sentence_says_so(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("record", "--store", tmp_path / "a", "--for", "2.5s", env={"NECROSCOPE_PATH": "/nowhere"})
    assert ran.code == 0
    assert ran.err.count("warning trouble: no samples are taken: perf is not installed") == 1
    assert " info stopped: recorded " in ran.err.splitlines()[-1]
    assert "no samples" in ran.err.splitlines()[-1]
    quiet = necroscope("record", "-q", "--store", tmp_path / "b", "--for", "1s", env={"NECROSCOPE_PATH": "/nowhere"})
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_without_a_terminal_a_hangup_reads_the_settings_again(tmp_path: Path) -> None:
    """A mistake in them changes nothing; what a restart needs is said."""
    file = tmp_path / "necroscope.toml"
    file.write_text("[labels]\nzone = 'a'\n")
    file.chmod(0o600)
    log = (tmp_path / "log").open("w")
    command = [PROGRAM, "record", "--no-perf", "--store", str(tmp_path / "store"), "--config", str(file)]
    started = subprocess.Popen(command, stderr=log, start_new_session=True)
    try:
        said = lambda words: lambda: words in (tmp_path / "log").read_text()  # noqa: E731
        wait_for(said("info started: recording to"), "its first line", 30.0)
        wait_for(lambda: any((tmp_path / "store").glob("journal/*.journal")), "the first row", 30.0)
        file.write_text("[labels]\nzone = 'b'\n[record]\nfrequency_hz = 49\n[store]\nmax_age_s = '2d'\n")
        started.send_signal(signal.SIGHUP)
        wait_for(said("and 2 d, 49 Hz"), "the new settings", 30.0)
        assert "only a restart changes record" in (tmp_path / "log").read_text()
        file.write_text("[labls]\n")
        started.send_signal(signal.SIGHUP)
        wait_for(said("the settings stay as they were"), "the refusal", 30.0)
        assert "did you mean labels?" in (tmp_path / "log").read_text()
        started.send_signal(signal.SIGTERM)
        assert started.wait(30) == 0
    finally:
        started.kill()
        started.wait()
        log.close()
    assert (tmp_path / "log").read_text().splitlines()[-1].split(" ", 1)[1].startswith("info stopped: recorded ")
    assert len(events_of(tmp_path / "store", "recorder-stopped")) == 1


def test_a_terminal_that_is_closed_ends_it_well(tmp_path: Path) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(PROGRAM, [PROGRAM, "record", "--no-perf", "--store", str(tmp_path), "--for", "60s"])
    try:
        wait_for(lambda: any(tmp_path.glob("journal/*.journal")), "the recorder's first row", 30.0)
    finally:
        os.close(terminal)
    assert os.waitstatus_to_exitcode(_ended(pid)) == 0
    assert len(events_of(tmp_path, "recorder-stopped")) == 1


def _ended(pid: int) -> int:
    """How it ended; it is killed when it does not end."""
    found: list[int] = []

    def over() -> bool:
        gone, status = os.waitpid(pid, os.WNOHANG)
        found.extend([status] if gone else [])
        return bool(gone)

    try:
        wait_for(over, "its end", 30.0)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    return found[0]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_what_it_was_started_to_ignore_it_ignores(tmp_path: Path, number: signal.Signals) -> None:
    """`nohup necroscope record`, and the background of a script, where Ctrl-C is for the foreground."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with recorder(tmp_path, "--no-perf") as running:
            running.send_signal(number)
            with pytest.raises(subprocess.TimeoutExpired):
                running.wait(1.0)
            stop(running)
    finally:
        signal.signal(number, before)
    assert len(events_of(tmp_path, "recorder-stopped")) == 1


def test_ctrl_c_ends_it_well(tmp_path: Path) -> None:
    with recorder(tmp_path, "--no-perf") as running:
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
        assert (running.returncode, out, err) == (0, "", "")
    assert len(events_of(tmp_path, "recorder-stopped")) == 1
