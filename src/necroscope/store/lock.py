"""One writer at a time: a lock that the kernel takes away when its owner dies, whatever it dies of.

    STORE/lock     {"pid": ..., "since": ..., "journal": ...}

`journal` is the number of the journal that has rows which are not sealed; null: there is none. So whoever reads
a store notices when that journal is lost.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.store.private_files import FILE_MODE
from necroscope.store.regular_file import is_regular, open_regular, read_regular

_BYTES = 256
_TRIES, _PAUSE_S = 4, 0.01


class WriterLock:
    """The right to write a store, until `release` or the end of the process. Refusal names who has it since when."""

    def __init__(self, store: Path) -> None:
        self._path = path = store / "lock"
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, FILE_MODE)
        except OSError as error:
            raise Unavailable(f"{path} cannot be written: {error.strerror}", "run as root, or give --store") from error
        with suppress(OSError):
            os.fchmod(self._fd, FILE_MODE)  # the umask may have taken bits away
        try:
            _take(self._fd)
        except BlockingIOError as error:
            owner = _owner(self._fd)
            os.close(self._fd)
            raise Unavailable(f"{store} is being written by {owner}", "stop it, or give another --store") from error
        self._since = clock.iso(clock.now().realtime_ns)
        self.journal: int | None = None
        self.write_owner(None)

    def lost(self) -> bool:
        """Whether the store was removed or replaced under the lock. Not to be known is not to be lost."""
        try:
            there = self._path.lstat()
        except FileNotFoundError:
            return True
        except OSError as error:
            return error.errno == errno.ESTALE
        ours = os.fstat(self._fd)
        return (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino)

    def release(self) -> None:
        """Give the right back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def write_owner(self, journal: int | None) -> None:
        """Who owns the lock, and which journal has rows. A courtesy: a full disk must not keep the writer from its
        work. It is one write of a steady length, so that readers find all of it."""
        self.journal = journal
        text = json.dumps({"pid": os.getpid(), "since": self._since, "journal": journal})
        try:
            os.pwrite(self._fd, f"{text:<{_BYTES - 1}}\n".encode(), 0)
            os.ftruncate(self._fd, _BYTES)
        except OSError:
            return


def expected_journal(store: Path) -> int | None:
    """The journal that must be there, or sealed; None when nobody knows of any."""
    try:
        number = json.loads(read_regular(store / "lock", _BYTES))["journal"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return number if type(number) is int else None


def was_locked(store: Path) -> bool:
    """Whether a writer was there: parts of a store, such as bundles, have no lock."""
    return is_regular(store / "lock")


def is_held(store: Path) -> bool | None:
    """Whether a writer is at work now. None: unknown, or nobody ever was."""
    try:
        fd = open_regular(store / "lock")
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(fd)
    return False


def _take(fd: int) -> None:
    """Lock it. Whoever asks whether somebody has the lock has it for an instant: that is waited for."""
    for _ in range(_TRIES):
        with suppress(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        clock.sleep(_PAUSE_S)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _owner(fd: int) -> str:
    try:
        owner = json.loads(os.pread(fd, 4096, 0))
        return f"process {int(owner['pid'])} since {owner['since']!s}"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "another process"
