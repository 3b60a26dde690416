"""`journalctl -o json`: kernel lines and systemd's words about units."""

# ruff: noqa: E501 - lines of logs stand as they were written

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import BadInput
from necroscope.sense.importers.logs.journal_json import JournalJson
from necroscope.sense.importers.rows import LogEvent
from necroscope.sense.importers.source import Placing

AT_US = 1_794_852_202_056_570
LOCKUP = "watchdog: BUG: soft lockup - CPU#39 stuck for 22s! [kubelet:4711]"


def entry(at_s: float = 0.0, **fields: object) -> bytes:
    stamp = {"__REALTIME_TIMESTAMP": str(AT_US + round(at_s * 1e6)), "_HOSTNAME": "node7", "_BOOT_ID": "0" * 32}
    return json.dumps(stamp | fields).encode() + b"\n"


def unit(at_s: float, message_id: str, text: str, result: str = "") -> bytes:
    who = {"_TRANSPORT": "journal", "SYSLOG_IDENTIFIER": "systemd", "_PID": "1"}
    who |= {"UNIT_RESULT": result} if result else {}
    return entry(at_s, MESSAGE_ID=message_id, UNIT="ecs.service", MESSAGE=text, **who)


def read(tmp_path: Path, text: bytes, placing: Placing | None = None) -> list[LogEvent]:
    path = tmp_path / "journal.json"
    path.write_bytes(text)
    return list(JournalJson(path, placing or Placing()).rows())


def test_kernel_lines_are_symptoms_also_as_bytes(tmp_path: Path) -> None:
    text = entry(0, _TRANSPORT="kernel", MESSAGE=LOCKUP)
    text += entry(60, _TRANSPORT="kernel", MESSAGE=[*list(LOCKUP.encode()), 255])
    text += entry(61, _TRANSPORT="stdout", MESSAGE=LOCKUP)
    events = read(tmp_path, text)
    assert [(event.kind, event.source, event.subject) for event in events] == [("soft-lockup", "journal", "cpu39")] * 2
    assert [event.at_ns for event in events] == [AT_US * 1000, AT_US * 1000 + 60 * 10**9]


def test_units_are_recognised_by_message_id_and_not_by_text(tmp_path: Path) -> None:
    text = unit(0, "39f53479d3a045ac8e11786248231fbf", "Démarré ECS.")
    text += unit(1, "d9b373ed55a64feb8242e02dbe79a49c", "ecs.service: Failed with result 'exit-code'.", "exit-code")
    text += unit(2, "5eb03494b6584870a536b337290809b3", "ecs.service: Scheduled restart job, restart counter is at 5.")
    text += unit(3, "7ad2d189f7e94e70a38c781354912448", "ecs.service: Deactivated successfully.")
    text += entry(4, MESSAGE="ecs.service: Scheduled restart job", SYSLOG_IDENTIFIER="somebody")
    events = read(tmp_path, text)
    assert [(event.kind, event.subject) for event in events] == [
        ("unit-start", "ecs.service"),
        ("unit-failure", "ecs.service"),
        ("unit-restart", "ecs.service"),
    ]
    assert events[2].text.endswith("restart counter is at 5.")
    assert [(event.count, event.reason) for event in events] == [(1, ""), (None, "exit-code"), (1, "")]
    assert events[2].at_ns == AT_US * 1000 + 2 * 10**9


def test_hosts_offsets_and_broken_lines(tmp_path: Path) -> None:
    text = entry(0, _TRANSPORT="kernel", MESSAGE=LOCKUP) + b'{"half": \n[1]\nnull\n{"__REALTIME_TIMESTAMP": 5}\n'
    assert len(read(tmp_path, text)) == 1
    assert read(tmp_path, text, Placing(host="other")) == []
    assert read(tmp_path, text, Placing(clock_offset_ns=7))[0].at_ns == AT_US * 1000 + 7


@pytest.mark.parametrize("text", [b"", b"{}\n", b"\0\1\2", b"[" * 100_000, b'{"a":' * 50_000, b"{" + b"x" * 3_000_000])
def test_what_is_no_journal_is_refused(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(BadInput, match="no entry of a journal"):
        read(tmp_path, text)


@given(st.dictionaries(st.sampled_from(["MESSAGE", "_TRANSPORT", "UNIT", "MESSAGE_ID", "_HOSTNAME"]), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3), max_leaves=4,
)))  # fmt: skip
def test_strange_values_never_crash(fields: dict[str, object]) -> None:
    import io

    list(JournalJson(io.BytesIO(entry(0, **fields) + entry(0, **(fields | {"_TRANSPORT": "kernel"})))).rows())
