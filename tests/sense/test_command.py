"""Programs that a sensor asks: answers, failures, late ones and talkative ones."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.sense import command, environment
from necroscope.sense.command import run, trusted_program


def test_the_whole_output_comes_back() -> None:
    assert run(["head", "-c", "300000", "/dev/zero"], 5) == b"\0" * 300_000


def test_the_locale_and_the_pager_of_the_user_do_not_reach_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("SYSTEMD_PAGER", "less")
    assert run(["sh", "-c", 'printf "%s|%s" "$LC_ALL" "$SYSTEMD_PAGER"'], 5) == b"C|"


@pytest.fixture
def privileges(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (command, environment):
        monkeypatch.setattr(module, "privileged", lambda: True)


def _program(folder: Path, text: str) -> Path:
    folder.mkdir(mode=0o755)
    made = folder / "sh"
    made.write_text(f"#!/bin/sh\n{text}\n")
    made.chmod(0o755)
    return made


@pytest.mark.usefixtures("privileges")
def test_with_privileges_nothing_of_the_environment_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _program(tmp_path / "bin", "echo evil")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for name in ("LD_LIBRARY_PATH", "PYTHONSTARTUP", "HOME", "PERF_CONFIG", "XDG_CONFIG_HOME", "CRI_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path))
    output = run(["sh", "-c", "env"], 5)
    assert b"LC_ALL=C\n" in output
    assert str(tmp_path).encode() not in output
    assert trusted_program("sh") == Path("/usr/bin/sh")


@pytest.mark.root
@pytest.mark.usefixtures("privileges")
def test_a_program_that_others_may_change_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    weak, sound = _program(tmp_path / "weak", "echo evil"), _program(tmp_path / "sound", "echo good")
    weak.chmod(0o777)
    monkeypatch.setenv("NECROSCOPE_PATH", f"{weak.parent}:{sound.parent}")
    assert trusted_program("sh") == sound
    assert run(["sh"], 5) == b"good\n"
    assert trusted_program(str(sound)) == sound
    monkeypatch.setenv("NECROSCOPE_PATH", str(weak.parent))
    assert trusted_program("sh", extra=[str(sound.parent)]) == sound
    with pytest.raises(Unavailable, match=f"sh is not run: {weak} may be changed by others than root") as refused:
        run(["sh"], 5)
    assert "NECROSCOPE_PATH" in refused.value.hint


def test_an_ordinary_users_path_is_theirs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in (command, environment):
        monkeypatch.setattr(module, "privileged", lambda: False)
    own = _program(tmp_path / "bin", "echo mine")
    own.chmod(0o777)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin")
    assert run(["sh"], 5) == b"mine\n"


def test_a_missing_program_is_named() -> None:
    with pytest.raises(Unavailable, match="no-such-program is not installed"):
        run(["no-such-program"], 5)


def test_a_program_that_cannot_be_started_is_unavailable(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF\0\0\0")
    broken.chmod(0o755)
    with pytest.raises(Unavailable, match="cannot be started"):
        run([str(broken)], 5)


def test_a_failure_is_unavailable_with_its_status() -> None:
    with pytest.raises(Unavailable, match="exit status 3"):
        run(["sh", "-c", "echo half an answer; exit 3"], 5)


@pytest.mark.parametrize("script", ["echo $$; exec sleep 30", "echo $$; exec >&-; exec sleep 30"])
def test_a_late_program_is_killed(script: str, tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(Unavailable, match="in time"):
        run(["sh", "-c", f"echo $$ > {tmp_path}/pid; {script}"], 0.3)
    assert time.monotonic() - started < 20
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


def test_a_program_that_says_too_much_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "OUTPUT_LIMIT_BYTES", 1 << 16)
    with pytest.raises(Unavailable, match="more than 65536 bytes"):
        run(["cat", "/dev/zero"], 5)
