"""One writer: the second is told who the first is, and the dead hold nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.store.lock import WriterLock

OWNER = """
import sys, time
from pathlib import Path
from necroscope.store.lock import WriterLock
lock = WriterLock(Path(sys.argv[1]))
print("mine", flush=True)
time.sleep(60)
"""


def test_the_refusal_names_the_owner_and_death_releases(tmp_path: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, tmp_path], stdout=subprocess.PIPE, text=True)
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "mine\n"
        with pytest.raises(
            Unavailable, match=rf"being written by process {owner.pid} since 20\d\d-\d\d-\d\dT"
        ) as refused:
            WriterLock(tmp_path)
        assert refused.value.exit_code == 3
    finally:
        os.kill(owner.pid, signal.SIGKILL)
        owner.communicate()
    WriterLock(tmp_path).release()


def test_release_lets_the_next_one_in(tmp_path: Path) -> None:
    first = WriterLock(tmp_path)
    with pytest.raises(Unavailable, match=f"process {os.getpid()} since"):
        WriterLock(tmp_path)
    first.release()
    first.release()
    WriterLock(tmp_path).release()


def test_an_unreadable_owner_is_another_process(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path)
    (tmp_path / "lock").write_text("[]")
    with pytest.raises(Unavailable, match="being written by another process"):
        WriterLock(tmp_path)
    lock.release()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be written: No such file"):
        WriterLock(tmp_path / "absent")
