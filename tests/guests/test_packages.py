"""Where packages come from, and which Python packages a guest gets."""

from __future__ import annotations

import pytest
from guests.fetching import Unfetchable, run
from guests.packages import archive
from guests.wheels import ROOT, direct, locked, needed

from guests import wheels

TARGETS = """Debian main bookworm-updates mirror://updates/
Debian main bookworm mirror://archive/
Debian main bookworm-security mirror://security/
Somebody main stable mirror://somebody/
"""


def test_the_archive_is_debians_own_not_its_updates_nor_another() -> None:
    assert archive(TARGETS) == "mirror://archive/"


def test_without_debians_archive_nothing_can_be_fetched() -> None:
    with pytest.raises(Unfetchable, match="no source of Debian's own archive"):
        archive("Somebody main stable mirror://somebody/\n")


def test_a_program_that_fails_says_why() -> None:
    with pytest.raises(Unfetchable, match=r"sh -c … failed: no space left"):
        run(["sh", "-c", "echo no space left >&2; exit 3"])
    with pytest.raises(Unfetchable, match="no-such-program"):
        run(["no-such-program"])


LOCK = """alpha==1.0 \\
    --hash=sha256:aa
beta-tool==2.0 \\
    --hash=sha256:bb \\
    --hash=sha256:bc
gamma==3.0 \\
    --hash=sha256:cc
"""
REQUIRES = {"alpha": ["Beta_Tool>=1", "elsewhere; platform_system == 'Windows'", "gamma ; extra == 'more'"]}


def test_what_is_needed_is_what_is_locked_without_extras() -> None:
    assert needed(["alpha"], locked(LOCK), REQUIRES.get) == {"alpha", "beta-tool"}


def test_an_entry_of_the_lock_file_keeps_its_hashes() -> None:
    assert locked(LOCK)["beta-tool"] == "beta-tool==2.0 \\\n    --hash=sha256:bb \\\n    --hash=sha256:bc\n"


def test_everything_the_program_needs_is_locked() -> None:
    entries = locked(wheels.LOCK.read_text("utf-8"))
    assert set(direct(ROOT / "pyproject.toml")) <= needed(direct(ROOT / "pyproject.toml"), entries)
