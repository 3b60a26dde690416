"""What the journal remembers: last words, the last end, and whether a unit ever succeeded."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import Unavailable
from necroscope.sense.systemd.journal import Journal, UnitHistory, ever_succeeded, field, last_lines, parse_entries

STARTED = "39f53479d3a045ac8e11786248231fbf"
SUCCEEDED = "7ad2d189f7e94e70a38c781354912448"
FAILED = "d9b373ed55a64feb8242e02dbe79a49c"
START_FAILED = "be02cf6855d2428ba40df7e9d022f03d"
STOPPED = "9d1aaa27d60140bd96365438aad20286"

# Entries of systemd 252 for one run of a unit that exits 1, fields as `--output-fields` leaves them.
ONE_RUN = b"""\
{"MESSAGE_ID":"39f53479d3a045ac8e11786248231fbf","__REALTIME_TIMESTAMP":"1794841556134534","JOB_TYPE":"start","_PID":"1","MESSAGE":"Started leaky.service - Writes a file and dies.","INVOCATION_ID":"896290dcd58443e59f1c1f8c51634ee6"}
{"MESSAGE":"state file is corrupt","__REALTIME_TIMESTAMP":"1794841556135763","_PID":"338"}
{"__REALTIME_TIMESTAMP":"1794841556136922","MESSAGE":"leaky.service: Main process exited, code=exited, status=1/FAILURE","EXIT_CODE":"exited","_PID":"1","MESSAGE_ID":"98e322203f7a4ed290d09fe03c09fe15","INVOCATION_ID":"896290dcd58443e59f1c1f8c51634ee6","EXIT_STATUS":"1"}
{"UNIT_RESULT":"exit-code","MESSAGE":"leaky.service: Failed with result 'exit-code'.","__REALTIME_TIMESTAMP":"1794841556137088","_PID":"1","MESSAGE_ID":"d9b373ed55a64feb8242e02dbe79a49c","INVOCATION_ID":"896290dcd58443e59f1c1f8c51634ee6"}
"""  # noqa: E501


def entry(kind: str, at_s: float, life: str = "a", **fields: str) -> dict[str, str]:
    return {"MESSAGE_ID": kind, "__REALTIME_TIMESTAMP": str(int(at_s * 1e6)), "INVOCATION_ID": life, **fields}


class FakeJournal:
    """Answers each journalctl call with the next text; the last one answers all that follow."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.commands: list[list[str]] = []

    def __call__(self, command: Sequence[str], timeout_s: float) -> bytes:
        self.commands.append(list(command))
        return self.answers[min(len(self.commands), len(self.answers)) - 1]


def test_a_unit_that_always_fails_never_succeeded() -> None:
    journal = FakeJournal(ONE_RUN, ONE_RUN, b"")
    assert Journal(run=journal).history("leaky.service", 1.0) == UnitHistory(
        last_lines=("state file is corrupt",),
        ever_succeeded=False,
        result="exit-code",
        exit_code="exited",
        exit_status=1,
    )
    assert journal.commands[0][-1] == "--unit=leaky.service"
    assert journal.commands[2][-4:] == ["+", "UNIT=leaky.service", f"MESSAGE_ID={STOPPED}", "JOB_TYPE=stop"]


def test_an_old_success_outside_the_newest_lives_counts() -> None:
    old = json.dumps(entry(SUCCEEDED, 5, "old")).encode()
    assert Journal(run=FakeJournal(ONE_RUN, ONE_RUN, old)).history("leaky.service", 1.0).ever_succeeded is True


def test_a_journal_without_the_unit_knows_nothing() -> None:
    assert Journal(run=FakeJournal(b"")).history("x.service", 1.0) == UnitHistory()


def test_another_root_is_passed_on() -> None:
    journal = FakeJournal(b"")
    Journal("/captured", journal).history("x.service", 1.0)
    assert journal.commands[0][:2] == ["journalctl", "--root=/captured"]


def test_no_time_left_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="in time"):
        Journal(run=FakeJournal(b"")).history("x.service", 0.0)


@pytest.mark.parametrize(
    ("entries", "verdict"),
    [
        ([], None),
        ([entry(STARTED, 0)], None),
        ([entry(STARTED, 0), entry(FAILED, 59)], False),
        ([entry(STARTED, 0), entry(FAILED, 61)], True),
        ([entry(FAILED, 61), entry(STARTED, 0)], True),
        ([entry(START_FAILED, 1)], False),
        ([entry(FAILED, 1), entry(SUCCEEDED, 2, "b")], True),
        # Started long ago, and another life failed: nothing stayed up.
        ([entry(STARTED, 0, "a"), entry(FAILED, 100, "b")], False),
        # Stopped by somebody one second after the start: no success.
        ([entry(STARTED, 0), entry(SUCCEEDED, 1), entry(STOPPED, 1, JOB_TYPE="stop")], False),
        ([entry(STARTED, 0), entry(SUCCEEDED, 99), entry(STOPPED, 99, JOB_TYPE="stop")], True),
        # systemd 252 logs the stop half of an automatic restart too.
        ([entry(STARTED, 0), entry(SUCCEEDED, 1), entry(STOPPED, 1, JOB_TYPE="restart")], True),
    ],
)
def test_what_counts_as_success(entries: list[dict[str, str]], verdict: bool | None) -> None:
    assert ever_succeeded(entries) is verdict


def test_bytes_that_are_no_text_are_decoded_and_repeated_fields_give_the_last() -> None:
    assert field({"MESSAGE": [27, 91, 51, 49, 109, 0xC3, 0xBC, 255]}, "MESSAGE") == "\x1b[31mü\ufffd"
    assert field({"MESSAGE": ["first", "last"]}, "MESSAGE") == "last"
    assert field({"MESSAGE": None}, "MESSAGE") == ""
    assert field({"MESSAGE": [1000]}, "MESSAGE") == ""
    assert field({}, "MESSAGE") == ""


def test_last_lines_are_the_units_own_where_it_said_anything() -> None:
    own = [{"MESSAGE": f"line {number}", "_PID": "7"} for number in range(9)]
    systemd = [{"MESSAGE": "Failed with result", "_PID": "1"}]
    assert last_lines([*own, *systemd]) == ("line 5", "line 6", "line 7", "line 8")
    assert last_lines(systemd) == ("Failed with result",)
    assert last_lines([*own[:2], *own[:2], *own[:1]]) == ("line 1", "line 0")
    assert last_lines([{"MESSAGE": "x" * 10_000, "_PID": "7"}]) == ("x" * 400,)


def test_broken_lines_are_left_out() -> None:
    text = b'{"MESSAGE":"whole"}\n{"MESSAGE":"cut\n[1,2]\nnull\n\xff\xfe\n' + b"[" * 100_000 + b"\n"
    assert parse_entries(text) == [{"MESSAGE": "whole"}]


FIELDS = st.sampled_from(["MESSAGE", "MESSAGE_ID", "INVOCATION_ID", "__REALTIME_TIMESTAMP", "EXIT_STATUS"])
VALUES = st.sampled_from(
    ["", "7", "-1", "9" * 30, "\u0663", FAILED, STARTED, SUCCEEDED, None, 7, [], [7], [-1], [None]]
)


@given(st.lists(st.dictionaries(FIELDS, VALUES), max_size=8))
def test_no_entry_breaks_the_reading(entries: list[dict[str, object]]) -> None:
    text = "\n".join(json.dumps(each) for each in entries).encode()
    history = Journal(run=FakeJournal(text)).history("x.service", 5.0)
    assert len(history.last_lines) <= 4
