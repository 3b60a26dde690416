"""Last lines of every unit at once."""

from __future__ import annotations

import json

from necroscope.sense.systemd.journal_tail import read_journal_tail


def line(**fields: object) -> bytes:
    return json.dumps({"__REALTIME_TIMESTAMP": "1", "_PID": "7", **fields}).encode()


def test_lines_go_to_their_unit() -> None:
    text = b"\n".join(
        [
            line(_SYSTEMD_UNIT="a.service", MESSAGE="one"),
            line(_SYSTEMD_UNIT="init.scope", UNIT="a.service", _PID="1", MESSAGE="a.service: Failed"),
            line(_SYSTEMD_UNIT="a.service", MESSAGE=[27, 91, 51, 49, 109]),
            line(_SYSTEMD_UNIT="init.scope", UNIT="b.service", _PID="1", MESSAGE="b.service: Failed"),
            line(MESSAGE="nobody's"),
            b"[1, 2]",
            b"{",
        ]
    )
    found = read_journal_tail(None, lambda command, budget_s: text)
    assert found == {"a.service": ("one", "\x1b[31m"), "b.service": ("b.service: Failed",)}


def test_another_root_is_asked_below_it() -> None:
    asked: list[str] = []

    def run(command: object, budget_s: float) -> bytes:
        asked.extend(command)  # type: ignore[call-overload]
        return b""

    assert read_journal_tail("/proc/7/root", run) == {}
    assert "--root=/proc/7/root" in asked
    assert "--lines=1500" in asked
