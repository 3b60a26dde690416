"""The inbox: what no store can hold is refused at the door, and what lies there all the same harms nobody."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.clock import LAST_NS
from necroscope.errors import BadInput, Unavailable
from necroscope.store import inbox
from necroscope.store.format.rows import event_rows
from necroscope.store.inbox import MAX_SUBJECT, MAX_TEXT, put, waiting
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import TYPED, Event, event_of

GOOD = Event(1_767_323_045_000_000_000, "job-failed", "mark", "job 7", "job 7 failed")
FIELDS = asdict(GOOD)
BAD = {
    "beyond-int64": json.dumps({**FIELDS, "at_ns": 32_472_144_000 * 10**9}),
    "before-1970": json.dumps({**FIELDS, "at_ns": -1}),
    "float": json.dumps({**FIELDS, "at_ns": 1.5}),
    "infinite": json.dumps({**FIELDS, "at_ns": float("inf")}),
    "boolean": json.dumps({**FIELDS, "at_ns": True}),
    "text-for-number": json.dumps({**FIELDS, "at_ns": "12"}),
    "uncertainty": json.dumps({**FIELDS, "uncertainty_ns": 1 << 63}),
    "number-for-text": json.dumps({**FIELDS, "text": 7}),
    "missing": json.dumps({"at_ns": 1}),
    "list": "[]",
    "null": "null",
    "empty": "",
    "deep": "[" * 60_000,
    "long": json.dumps({**FIELDS, "text": "x" * 100_000}),
    "digits": '{"at_ns": ' + "9" * 5_000 + "}",
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_harms_neither_reader_nor_writer(tmp_path: Path, name: str) -> None:
    put(tmp_path, GOOD)
    (tmp_path / "inbox" / "1.json").write_text(BAD[name])
    assert Store(tmp_path).snapshot().live["events"].num_rows == 1
    writer = Writer(tmp_path)
    writer.flush()
    writer.close()
    assert [path.name for path in (tmp_path / "inbox").iterdir()] == ["1.bad"]


def test_what_is_no_file_is_put_aside_and_a_pipe_holds_up_nobody(tmp_path: Path) -> None:
    put(tmp_path, GOOD)
    (tmp_path / "inbox" / "folder.json").mkdir()
    os.mkfifo(tmp_path / "inbox" / "pipe.json")
    found = waiting(tmp_path)
    assert [event for _, event in found.events] == [GOOD]
    assert [path.name for path in found.damaged] == ["folder.json", "pipe.json"]
    writer = Writer(tmp_path, flush_s=1e9)
    writer._marks()
    names = sorted(path.name for path in (tmp_path / "inbox").iterdir())
    assert names == sorted([f"{GOOD.id}.json", "folder.bad", "pipe.bad"])


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("value", [[], {}, True, -1, 1 << 70, "x", 1.5, float("nan"), "\ud800", None])
def test_a_field_that_is_none_makes_a_bad_file_or_an_event_that_can_be_written(
    tmp_path: Path, name: str, value: object
) -> None:
    try:
        number = event_of({**FIELDS, name: value}).id
    except (TypeError, ValueError, UnicodeError):
        number = 1
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / f"{number}.json").write_text(json.dumps({**FIELDS, name: value}))
    found = waiting(tmp_path)
    assert len(found.events) + len(found.damaged) == 1
    assert event_rows(event for _, event in found.events).num_rows == len(found.events)


@given(
    data=st.binary(max_size=200)
    | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(
        lambda value: json.dumps({**FIELDS, "at_ns": value, "text": value}).encode()
    )
)
def test_no_bytes_make_the_inbox_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("store")
    (folder / "inbox").mkdir()
    (folder / "inbox" / "1.json").write_bytes(data)
    for _, event in waiting(folder).events:
        assert 0 <= event.at_ns < LAST_NS


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"at_ns": LAST_NS}, "time is out of range"),
        ({"at_ns": -1}, "time is out of range"),
        ({"text": ""}, "text is empty"),
        ({"text": " \n"}, "text is empty"),
        ({"text": "x" * (MAX_TEXT + 1)}, "The text has 4,001 characters"),
        ({"subject": "x" * (MAX_SUBJECT + 1)}, "The subject has 1,001 characters"),
        ({"kind": ""}, "no kind of event"),
        ({"kind": "Job failed"}, "no kind of event"),
        ({"kind": "a\n"}, "no kind of event"),
        ({"kind": "a" * 65}, "no kind of event"),
    ],
)
def test_what_no_store_would_take_is_refused(tmp_path: Path, changed: dict[str, object], words: str) -> None:
    store = tmp_path / "store"
    with pytest.raises(BadInput, match=words):
        put(store, replace(GOOD, **changed))  # type: ignore[arg-type]
    assert not store.exists()


def test_the_longest_event_comes_back_whole(tmp_path: Path) -> None:
    longest = replace(GOOD, at_ns=LAST_NS - 1, text="𝄞" * MAX_TEXT, subject="\x01" * MAX_SUBJECT)
    put(tmp_path, longest)
    assert [event for _, event in waiting(tmp_path).events] == [longest]


@pytest.mark.parametrize(("code", "hint"), [(errno.ENOSPC, "make room"), (errno.EACCES, "run as root")])
def test_the_hint_fits_the_trouble_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, hint: str
) -> None:
    put(tmp_path, GOOD)

    def fails(path: Path, data: bytes) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(inbox, "write_synced", fails)
    with pytest.raises(Unavailable) as caught:
        put(tmp_path, replace(GOOD, text="another"))
    assert hint in caught.value.hint
    assert [path.name for path in (tmp_path / "inbox").iterdir()] == [f"{GOOD.id}.json"]
