"""The journal: what was cut off had not begun, what is damaged is not guessed around."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.act.attempt import stand
from necroscope.act.journal import Journal, read_journal
from necroscope.errors import Refused
from necroscope.vocabulary.plan import Plan
from stage.plans import planned


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return planned("disable-unit", tmp_path / "node.json")[2]


@pytest.fixture
def path(tmp_path: Path, plan: Plan) -> Path:
    journal = Journal(tmp_path / "j.jsonl")
    journal.add("plan", plan=plan)
    journal.add("intent", 0)
    journal.add("outcome", 0, "done", "said \x1b[31m and \udcff")
    journal.close()
    return tmp_path / "j.jsonl"


def test_what_was_written_is_read_back_whole(path: Path, plan: Plan) -> None:
    read = read_journal(path)
    assert read.plan == plan
    assert [one.kind for one in read.records] == ["plan", "intent", "outcome"]
    assert read.whole == path.stat().st_size
    assert (path.stat().st_mode & 0o777) == 0o600


def test_every_cut_leaves_the_records_before_it(path: Path) -> None:
    data = path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(data) if byte == ord("\n")]
    for cut in range(0, len(data) + 1, 97):
        path.write_bytes(data[:cut])
        assert len(read_journal(path).records) == sum(end <= cut for end in ends)


def test_a_cut_line_does_not_become_part_of_the_next(path: Path, plan: Plan) -> None:
    path.write_bytes(path.read_bytes()[:-9])
    journal = Journal(path)
    journal.add("outcome", 0, "failed")
    journal.close()
    records = read_journal(path).records
    assert [(one.kind, one.outcome) for one in records] == [("plan", None), ("intent", None), ("outcome", "failed")]
    assert stand(plan, records).ending == "open"


def test_a_flipped_bit_anywhere_is_refused(path: Path) -> None:
    data = path.read_bytes()
    whole = data.rindex(b"\n", 0, len(data) - 1)
    for place in range(0, whole, 211):
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        with pytest.raises(Refused):
            read_journal(path)


def test_what_does_not_begin_with_a_plan_is_refused(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))
    with pytest.raises(Refused, match="does not begin with a plan"):
        read_journal(path)
