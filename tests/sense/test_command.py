"""Programs that a sensor asks: answers, failures, late ones and talkative ones."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.sense import command
from necroscope.sense.command import run


def test_the_whole_output_comes_back() -> None:
    assert run(["head", "-c", "300000", "/dev/zero"], 5) == b"\0" * 300_000


def test_the_locale_and_the_pager_of_the_user_do_not_reach_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("SYSTEMD_PAGER", "less")
    assert run(["sh", "-c", 'printf "%s|%s" "$LC_ALL" "$SYSTEMD_PAGER"'], 5) == b"C|"


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
    assert time.monotonic() - started < 2
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


def test_a_program_that_says_too_much_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "OUTPUT_LIMIT_BYTES", 1 << 16)
    with pytest.raises(Unavailable, match="more than 65536 bytes"):
        run(["cat", "/dev/zero"], 5)
