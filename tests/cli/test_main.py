"""The program's own surroundings, before any verb runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from necroscope.cli import main
from stage.program import Program

INCIDENT = Path(__file__).parents[1] / "incidents" / "seeds-incident.ncb"
SIGPIPE = 141


def _temporary(monkeypatch: pytest.MonkeyPatch, folder: Path) -> str | None:
    monkeypatch.setenv("TMPDIR", str(folder))
    with pytest.raises(SystemExit):
        main.run(["--version"])
    return os.environ.get("TMPDIR")


@pytest.mark.root
def test_a_temporary_folder_that_others_may_change_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert _temporary(monkeypatch, tmp_path) == str(tmp_path)
    assert _temporary(monkeypatch, tmp_path / "absent") is None
    tmp_path.chmod(0o1777)
    assert _temporary(monkeypatch, tmp_path) == str(tmp_path)
    tmp_path.chmod(0o777)
    assert _temporary(monkeypatch, tmp_path) is None
    tmp_path.chmod(0o755)
    os.chown(tmp_path, 12345, 0)
    assert _temporary(monkeypatch, tmp_path) is None
    os.chown(tmp_path, 0, 0)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "verb",
    [("events", "--all"), ("sql", "--json", "select * from samples"), ("export", "--format", "folded", "-o", "-")],
)
def test_a_reader_that_goes_away_is_not_nothing_wrong(verb: tuple[str, ...], unbuffered: str) -> None:
    """More than a pipe holds, of which somebody reads a line."""
    program = str(Path(sys.executable).parent / "necroscope")
    command = [program, verb[0], "--bundle", str(INCIDENT), *verb[1:]]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline()
        running.stdout.close()
        assert running.wait(60) == SIGPIPE
        assert b"Traceback" not in running.stderr.read()


def test_a_reader_that_never_was_is_told_by_tables_too() -> None:
    program = str(Path(sys.executable).parent / "necroscope")
    with subprocess.Popen(
        [program, "top", "--bundle", str(INCIDENT)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.wait(60) == SIGPIPE


@pytest.mark.parametrize("verb", [(), ("lab",)])
def test_who_gives_no_verb_gets_the_help_as_it_is(necroscope: Program, verb: tuple[str, ...]) -> None:
    ran = necroscope(*verb)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == necroscope(*verb, "--help").out


@pytest.mark.parametrize("columns", [80, 120])
def test_help_fits_the_terminal(necroscope: Program, columns: int) -> None:
    assert max(map(len, necroscope("--help", columns=columns).out.splitlines())) <= columns


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_completion(necroscope: Program, shell: str) -> None:
    ran = necroscope("completion", shell)
    assert ran.code == 0
    assert f"_NECROSCOPE_COMPLETE={shell}_complete" in ran.out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("necroscope he", {"heatmap"}),
        ("necroscope events --ki", {"--kind"}),
        ("necroscope events --kind nic-tx", {"nic-tx-late", "nic-tx-timeout"}),
        ("necroscope top --by fu", {"function"}),
        ("necroscope lab sc", {"score"}),
    ],
)
def test_verbs_options_and_kinds_are_completed(necroscope: Program, words: str, expected: set[str]) -> None:
    completing = {"_NECROSCOPE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    assert {line.partition(",")[2] for line in necroscope(env=completing).out.splitlines()} == expected


def test_kinds_of_the_recording_are_completed_and_nothing_that_a_shell_could_carry_out(
    necroscope: Program, tmp_path: Path
) -> None:
    from necroscope.clock import NS
    from necroscope.store.write.writer import Writer
    from necroscope.vocabulary.event import Event

    writer = Writer(tmp_path)
    writer.add_events([Event(NS, kind, "mark", "", "x") for kind in ("zz-deployed", "zz$(reboot)", "zz;x")])
    writer.close()
    words = f"necroscope why --store {tmp_path} --event zz"
    completing = {"_NECROSCOPE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "5"}
    assert necroscope(env=completing).out == "plain,zz-deployed\n"
