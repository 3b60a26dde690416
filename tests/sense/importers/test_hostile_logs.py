"""Lines that somebody wrote to make an import slow: time grows with their length and no faster."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable

import pytest

from necroscope.errors import BadInput
from necroscope.sense.importers.logs.dmesg import Dmesg
from necroscope.sense.importers.logs.journal_json import JournalJson
from necroscope.sense.importers.source import Placing
from necroscope.sense.importers.sysstat.mpstat import Mpstat

_LOCKUP = b"[    1.000000] watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [x:4]\n"
_PATTERNS = {
    "blanks": (b"", b" "),
    "quotes": (b"", b"> "),
    "brackets": (b"", b"["),
    "words": (b"", b"a "),
    "colons": (b"", b"a:"),
    "host": (b"Nov 16 18:03:22 ", b"h"),
    "hosts": (b"Nov 16 18:03:22 ", b"h "),
    "tag": (b"Nov 16 18:03:22 node7 ", b"t"),
    "facility": (b"Nov 16 18:03:22 node7 ", b"kern.warn "),
    "audit": (b"[1.000000] ", b"audit(1"),
    "clock": (b"[1.000000] ", b"setting system clock to ("),
    "kernel": (b"", b"kernel: ["),
    "quoted data": (b'<4>1 2026-11-16T18:03:22Z h k - - [a b="', b'\\"'),
    "much data": (b"<4>1 2026-11-16T18:03:22Z h k - - ", b"[a]"),
    "runtimes": (b"", b"2026-11-16T18:03:22.1Z stdout F "),
    "a colour": (b"\x1b[", b"1;"),
    "colours": (b"", b"\x1b[1"),
    "flags": (b"4,1,1,", b"a"),
    "escapes": (b"4,1,1,-;", b"\\x41"),
    "dates": (b"", b"Nov 16 "),
    "months": (b"", "月".encode()),
    "docker": (b'{"log":"', b'\\"'),
    "zone": (b"Mon 2026-11-16 18:03:22 ", b"C"),
    "head": (b"-- Journal begins at ", b", ends at Mon "),
    "frames": (b"[    1.000000]  ", b"foo+0x1/0x2 "),
    "names": (b"[    1.000000] CPU: 3 PID: 4 Comm: ", b"x "),
    "tasks": (b"[    1.000000] task:", b"x "),
    "oom": (b"[    1.000000] oom-kill:constraint=CONSTRAINT_MEMCG,", b",task=x"),
    "object": (b'{"MESSAGE":"x","a":', b"["),
    "numbers": (b'{"MESSAGE":[', b"1,"),
}


def _dmesg(line: bytes) -> None:
    # The lockup makes the lines below it parts of its dump.
    list(Dmesg(io.BytesIO(_LOCKUP + line), Placing(at_ns=0)).rows())


def _journal(line: bytes) -> None:
    list(JournalJson(io.BytesIO(line)).rows())


def _sysstat(line: bytes) -> None:
    list(Mpstat(io.BytesIO(b'{"sysstat":{"hosts":[{"date":"' + line.replace(b'"', b"") + b'"}]}}')).rows())


@pytest.mark.parametrize("read", [_dmesg, _journal, _sysstat])
@pytest.mark.parametrize("name", _PATTERNS)
def test_a_megabyte_takes_no_longer_in_long_lines_than_in_short_ones(name: str, read: Callable[[bytes], None]) -> None:
    head, again = _PATTERNS[name]
    took = []
    for size in (1 << 14, 1 << 16, 1 << 20):
        line = (head + again * (size // len(again)))[:size] + b"\n"
        started = time.process_time()
        with contextlib.suppress(BadInput):
            read(line * ((1 << 20) // size))
        took.append(time.process_time() - started)
    # With its square it would grow to the 64-fold.
    assert max(took) < 4 * took[0] + 1.0
