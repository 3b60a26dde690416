"""Why a program failed, in one line."""

from __future__ import annotations

import subprocess

import pytest

from necroscope.lab.environment.complaints import complaint, failure


@pytest.mark.parametrize(
    ("stderr", "line"),
    [
        ("Traceback (most recent call last):\n  ...\nOSError: no room\n", "OSError: no room"),
        (b"bad \xff name", "bad \ufffd name"),
        (" \n", "no reason given"),
    ],
)
def test_the_last_line_says_why(stderr: str | bytes, line: str) -> None:
    assert complaint(stderr) == line


def test_a_failed_command_is_named_with_its_status() -> None:
    done = subprocess.run(["sh", "-c", "echo no >&2; exit 3"], check=False, capture_output=True, text=True)
    assert failure(["ip", "link"], done) == "ip link: exit 3: no"
