"""Every sample line of the catalogue, in every shape in which people keep kernel logs: it tells the same as live."""

# ruff: noqa: E501 - tables of shapes

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from necroscope.record.chronicle import Chronicle
from necroscope.sense.host import Host
from necroscope.sense.importers.logs.dmesg import Dmesg
from necroscope.sense.importers.logs.journal_json import JournalJson
from necroscope.sense.importers.rows import LogEvent
from necroscope.sense.importers.sniff import kind_of_text
from necroscope.sense.importers.source import Placing
from necroscope.sense.log.kernel_log import KernelLog
from necroscope.sense.log.kmsg import parse_records
from necroscope.sense.log.symptoms import Pattern, catalogue
from necroscope.sense.sensor import Look
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import Reading, Symptom

S = 10**9
AT = 1_794_852_202  # 2026-11-16 18:03:22 UTC
BOOTED = AT - 12_345


def _stamp(at: float, form: str) -> str:
    return datetime.fromtimestamp(at, UTC).strftime(form)


@dataclass(frozen=True)
class Shape:
    """How a log looks. `each`: every line of a record has its stamp; else those below the first are indented."""

    name: str
    prefix: Callable[[float], str]
    each: bool = False
    before: str = ""
    behind: str = "\n"

    def log(self, records: Iterable[tuple[float, str]]) -> bytes:
        """The log of records, each with its time in seconds after AT."""
        made = []
        for at, text in records:
            head = self.prefix(AT + at)
            first, *rest = text.split("\n")
            lines = [head + first]
            lines += [(head if self.each else " " * len(head)) + line for line in rest]
            made += [self.before + line + self.behind for line in lines]
        return "".join(made).encode()


class _Human:
    def __init__(self, minute: str, sign: str = ".") -> None:
        self._minute, self._sign, self._last = minute, sign, float(AT)

    def __call__(self, at: float) -> str:
        passed, self._last = at - self._last, at
        return _stamp(at, self._minute) if at == AT else f"[{passed:+11.6f}] ".replace(".", self._sign)


BOOT = "[{:12.6f}] "
SHAPES = [
    Shape("dmesg", lambda at: BOOT.format(at - BOOTED)),
    Shape("dmesg -S", lambda at: BOOT.format(at - BOOTED), each=True),
    Shape("dmesg -x", lambda at: "kern  :warn  : " + BOOT.format(at - BOOTED)),
    Shape("dmesg -r", lambda at: "<4>" + BOOT.format(at - BOOTED)),
    Shape("dmesg -d", lambda at: f"[{at - BOOTED:12.6f} <    0,000123>] "),
    Shape("dmesg with callers", lambda at: f"[{at - BOOTED:12.6f}][   T39] "),
    Shape("dmesg -T", lambda at: _stamp(at, "[%a %b %e %H:%M:%S %Y] ")),
    Shape("dmesg -T in German", lambda at: _stamp(at, "[Mo Nov %e %H:%M:%S %Y] ")),
    Shape("dmesg -T in French", lambda at: _stamp(at, "[lun. nov. %e %H:%M:%S %Y] ")),
    Shape("dmesg -T in Japanese", lambda at: _stamp(at, "[月 11月 %e %H:%M:%S %Y] ")),
    Shape("dmesg -T in Korean", lambda at: _stamp(at, "[월 11월 %e %H:%M:%S %Y] ")),
    Shape("dmesg -T in Russian", lambda at: _stamp(at, "[Пн ноя %e %H:%M:%S %Y] ")),
    Shape("dmesg -T in Finnish", lambda at: _stamp(at, "[ma marras %e %H:%M:%S %Y] ")),
    Shape("dmesg --time-format iso", lambda at: _stamp(at, "%Y-%m-%dT%H:%M:%S,%f+00:00 ")),
    Shape("dmesg --color=always", lambda at: f"\x1b[32m[{at - BOOTED:12.6f}] \x1b[0m\x1b[33m", behind="\x1b[0m\n"),
    Shape("journalctl -k", lambda at: _stamp(at, "%b %d %H:%M:%S node7 kernel: ")),
    Shape("journalctl -k --no-hostname", lambda at: _stamp(at, "%b %d %H:%M:%S kernel: ")),
    Shape("journalctl -k in Chinese", lambda at: _stamp(at, "11月 %d %H:%M:%S node7 kernel: ")),
    Shape("journalctl -k -o short-iso", lambda at: _stamp(at, "%Y-%m-%dT%H:%M:%S+0000 node7 kernel: ")),
    Shape("journalctl -k -o short-iso --no-hostname", lambda at: _stamp(at, "%Y-%m-%dT%H:%M:%S+00:00 kernel: ")),
    Shape("journalctl -k -o short-iso-precise", lambda at: _stamp(at, "%Y-%m-%dT%H:%M:%S.%f+0000 node7 kernel: ")),
    Shape("journalctl -k -o short-precise", lambda at: _stamp(at, "%b %d %H:%M:%S.%f node7 kernel: ")),
    Shape("journalctl -k -o short-full", lambda at: _stamp(at, "%a %Y-%m-%d %H:%M:%S UTC node7 kernel: ")),
    Shape("journalctl -k -o short-full, Berlin", lambda at: _stamp(at + 3600, "%a %Y-%m-%d %H:%M:%S CET node7 kernel: ")),
    Shape("journalctl -k -o short-full, +05", lambda at: _stamp(at + 18000, "%a %Y-%m-%d %H:%M:%S +05 node7 kernel: ")),
    Shape("journalctl -k -o short-unix", lambda at: f"{at:.6f} node7 kernel: "),
    Shape("journalctl -k -o short-monotonic", lambda at: f"[{at - BOOTED:12.6f}] node7 kernel: "),
    Shape("journalctl -k -o short-monotonic --no-hostname", lambda at: f"[{at - BOOTED:12.6f}] kernel: "),
    Shape("kern.log", lambda at: _stamp(at, "%b %e %H:%M:%S node7 kernel: ") + BOOT.format(at - BOOTED), each=True),
    Shape("kern.log, no blank", lambda at: _stamp(at, "%b %e %H:%M:%S node7 kernel:[12345.678901] "), each=True),
    Shape("rsyslog", lambda at: _stamp(at, "%Y-%m-%dT%H:%M:%S.%f+00:00 node7 kernel: ") + BOOT.format(at - BOOTED), each=True),
    Shape("RFC 3164", lambda at: _stamp(at, "<4>%b %e %H:%M:%S node7 kernel: "), each=True),
    Shape("RFC 5424", lambda at: _stamp(at, "<4>1 %Y-%m-%dT%H:%M:%S.%fZ node7 kernel - - - "), each=True),
    Shape("RFC 5424 with data", lambda at: _stamp(at, '<4>1 %Y-%m-%dT%H:%M:%SZ node7 kernel - - [meta a="b]\\"" c="d"][x] '), each=True),
    Shape("busybox", lambda at: _stamp(at, "%b %e %H:%M:%S node7 kern.warn kernel: ") + BOOT.format(at - BOOTED), each=True),
    Shape("ts", lambda at: _stamp(at, "%b %d %H:%M:%S ") + BOOT.format(at - BOOTED), each=True),
    Shape("ts with dates", lambda at: _stamp(at, "[%Y-%m-%d %H:%M:%S] ") + BOOT.format(at - BOOTED), each=True),
    Shape("containerd", lambda at: _stamp(at, "%Y-%m-%dT%H:%M:%S.%f123Z stderr F ") + BOOT.format(at - BOOTED), each=True),
    Shape("containerd, dmesg -T inside", lambda at: _stamp(at + 5, "%Y-%m-%dT%H:%M:%SZ stdout F ") + _stamp(at, "[%a %b %e %H:%M:%S %Y] "), each=True),
    Shape("kubectl logs --timestamps", lambda at: _stamp(at, "%Y-%m-%dT%H:%M:%S.%f123Z ") + BOOT.format(at - BOOTED), each=True),
    Shape("quoted", lambda at: "> " + BOOT.format(at - BOOTED), each=True),
    Shape("quoted twice, indented", lambda at: "  > | " + _stamp(at, "%b %d %H:%M:%S node7 kernel: "), each=True),
    Shape("leading blanks", lambda at: "    " + BOOT.format(at - BOOTED), each=True),
    Shape("kernel: before the stamp", lambda at: "kernel: " + BOOT.format(at - BOOTED), each=True),
    Shape("host and kernel: before the stamp", lambda at: "node7 kernel: " + BOOT.format(at - BOOTED), each=True),
    Shape("Windows", lambda at: BOOT.format(at - BOOTED), behind="\r\n"),
    Shape("kmsg", lambda at: f"4,{round(at)},{round((at - BOOTED) * 1e6)},-;", each=True),
]  # fmt: skip
HUMAN = [
    ("[%b%d %H:%M] ", "."),
    ("[nov.%d %H:%M] ", ","),
    ("[11月%d %H:%M] ", "."),
    ("kern  :warn  : [%b%d %H:%M] ", "."),
]


def _cases() -> list[tuple[str, list[str]]]:
    """Lines to try: each example by itself; those that only add to a symptom below one that opens it."""
    opening: dict[str, str] = {}
    for pattern in catalogue().patterns:
        if not pattern.part:
            opening.setdefault(pattern.kind.name, pattern.examples[0]["line"])
    return [
        (example["line"][:60], _lines(pattern, example, opening))
        for pattern in catalogue().patterns
        for example in pattern.examples
    ]


def _lines(pattern: Pattern, example: dict[str, Any], opening: dict[str, str]) -> list[str]:
    return [opening[pattern.kind.name], example["line"]] if pattern.part else [example["line"]]


CASES = _cases()
TRACE = [
    "watchdog: BUG: soft lockup - CPU#39 stuck for 22s! [kubelet:4711]",
    "CPU: 39 PID: 4711 Comm: kubelet Not tainted 5.4.0-1103-aws #111~18.04.1-Ubuntu",
    "RIP: 0010:mem_cgroup_nr_lru_pages+0x5a/0x70",
]  # fmt: skip


def _escaped(text: str) -> str:
    return "".join(char if " " <= char <= "~" and char != "\\" else f"\\x{ord(char):02x}" for char in text)


def _live(tmp_path: Path, lines: list[str]) -> list[Symptom]:
    """What the sensor makes of the same lines in the kernel's own ring."""
    (tmp_path / "dev").mkdir(exist_ok=True)
    records = [f"4,{n},{(AT - BOOTED) * 10**6 + n * 1000},-;{_escaped(line)}\n" for n, line in enumerate(lines)]
    (tmp_path / "dev" / "kmsg").write_text("".join(records))
    return [one for one in KernelLog().read(Host(tmp_path)).records if isinstance(one, Symptom)]


def _said(symptom: Symptom) -> Symptom:
    """All that does not depend on who tells when."""
    return replace(symptom, at_ns=0, first_at_ns=0, uncertainty_ns=0, source="")


def _imported(log: bytes) -> list[LogEvent]:
    return list(Dmesg(io.BytesIO(log), Placing(at_ns=AT * S)).rows())


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.name for shape in SHAPES])
def test_an_imported_line_tells_what_the_live_one_tells(tmp_path: Path, shape: Shape) -> None:
    for name, lines in [*CASES, ("a lockup with its stack", TRACE)]:
        if name.startswith("  Tx Queue") and shape.name == "kmsg":
            continue
        live = _live(tmp_path, lines)
        found = _imported(shape.log((n / 1000, line) for n, line in enumerate(lines)))
        assert [_said(event.symptom) for event in found if event.symptom] == [_said(one) for one in live], (
            name,
            shape.name,
        )
        assert len(found) == len(live)
        for event, one in zip(found, live, strict=True):
            assert abs(event.at_ns - AT * S) <= 2 * S
            (recorded,) = Chronicle().events([_look(one)])
            assert _fields(event) == _fields(recorded)


def _fields(event: Event) -> dict[str, object]:
    """All that does not depend on who tells when."""
    own = ("at_ns", "source", "uncertainty_ns")
    return {name: value for name, value in event.fields.items() if name not in own}


def _look(symptom: Symptom) -> Look:
    return Look(KernelLog.name, AT * S, Reading(records=(symptom,)), 0.0)


@pytest.mark.parametrize(("minute", "sign"), HUMAN)
def test_dmesg_for_humans(tmp_path: Path, minute: str, sign: str) -> None:
    for name, lines in [*CASES, ("a lockup with its stack", TRACE)]:
        shape = Shape(name, _Human(minute, sign), each=True)
        live = _live(tmp_path, lines)
        found = _imported(shape.log((n / 1000, line) for n, line in enumerate(lines)))
        assert [_said(event.symptom) for event in found if event.symptom] == [_said(one) for one in live], name
        for event in found:
            assert AT * S - 60 * S <= event.at_ns <= AT * S + S
            assert event.uncertainty_ns == 60 * S


def test_the_journal_as_json(tmp_path: Path) -> None:
    for name, lines in [*CASES, ("a lockup with its stack", TRACE)]:
        entries = [
            {"__REALTIME_TIMESTAMP": str(AT * 10**6 + n * 1000), "_TRANSPORT": "kernel", "MESSAGE": line}
            for n, line in enumerate(lines)
        ]
        log = "".join(json.dumps(entry) + "\n" for entry in entries).encode()
        found = list(JournalJson(io.BytesIO(log)).rows())
        assert [_said(event.symptom) for event in found if event.symptom] == [
            _said(one) for one in _live(tmp_path, lines)
        ], name


def test_docker_json(tmp_path: Path) -> None:
    for name, lines in [*CASES, ("a lockup with its stack", TRACE)]:
        entries = [
            {
                "log": BOOT.format(AT - BOOTED + n / 1000) + part + "\n",
                "stream": "stdout",
                "time": _stamp(AT + 1, "%Y-%m-%dT%H:%M:%S.123456789Z"),
            }
            for n, line in enumerate(lines)
            for part in line.split("\n")
        ]
        log = "".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries).encode()
        assert kind_of_text(log, "container") == "dmesg"
        assert [_said(event.symptom) for event in _imported(log) if event.symptom] == [
            _said(one) for one in _live(tmp_path, lines)
        ], name


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.name for shape in SHAPES])
def test_every_shape_is_recognised(shape: Shape) -> None:
    log = shape.log([(0.0, TRACE[0]), (0.1, TRACE[1])])
    assert kind_of_text(log, "a log") == "dmesg"
    assert kind_of_text(b"\xef\xbb\xbf" + log, "a log") == "dmesg"
    assert kind_of_text(b"$ cat log\n\n" + log, "a log") == "dmesg"


LOGS = sorted((Path(__file__).parents[1] / "logs").glob("*.kmsg"))


@pytest.mark.parametrize(
    "name", ["dmesg with callers", "dmesg -T", "journalctl -k", "kern.log", "rsyslog", "RFC 5424", "containerd"]
)
@pytest.mark.parametrize("log", LOGS, ids=[log.stem for log in LOGS])
def test_whole_logs_tell_the_same_symptoms(tmp_path: Path, log: Path, name: str) -> None:
    """The live sensor folds repeats and keeps the last one's stack, an import has all."""
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "kmsg").write_bytes(log.read_bytes())
    live = {_who(one) for one in KernelLog().read(Host(tmp_path)).records if isinstance(one, Symptom)}
    (shape,) = [one for one in SHAPES if one.name == name]
    records = parse_records(log.read_bytes())
    written = b""
    for record in records:
        text = shape.log([(record.usec / 1e6 - records[0].usec / 1e6, record.text)])
        written += (
            text.replace(b"[   T39]", f"[{record.caller:>6}]".encode())
            if record.caller
            else text.replace(b"[   T39]", b"")
        )
    found = {_who(event.symptom) for event in _imported(written) if event.symptom}
    assert live
    assert live <= found
    assert {one[:7] for one in live} == {one[:7] for one in found}


def _who(one: Symptom) -> tuple[Any, ...]:
    return one.kind, one.driver, one.device, one.queue, one.cpu, one.task, one.pid, one.function, one.stack
