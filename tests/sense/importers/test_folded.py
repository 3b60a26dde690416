"""Folded stacks."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import BadInput
from necroscope.sense.importers.folded import WINDOW_NS, Folded
from necroscope.sense.importers.source import Placing

TEXT = b"kubelet;runtime.main;read_[k];mem_cgroup_nr_lru_pages_[k] 412\npython3;main 7\n\n# comment\nswapper;idle\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_stacks_and_counts(tmp_path: Path, pack: type[bytes]) -> None:
    path = tmp_path / "x.folded"
    path.write_bytes(pack(TEXT))
    folded = Folded(path, Placing(at_ns=1000))
    (batch,) = folded.rows()
    assert batch.weight.tolist() == [412, 7]
    assert [stack.frames for stack in batch.stacks] == [
        ("kubelet", "runtime.main", "read", "mem_cgroup_nr_lru_pages"),
        ("python3", "main"),
    ]
    assert batch.stacks[0].modules == ("[unknown]", "[unknown]", "[kernel]", "[kernel]")
    assert batch.stack_id.tolist() == [stack.stack_id for stack in batch.stacks]
    assert batch.pid.tolist() == batch.cpu.tolist() == [-1, -1]
    assert all(1000 <= at < 1000 + WINDOW_NS for at in batch.at_ns.tolist())
    assert folded.notes()[0].startswith("folded stacks tell no time")
    assert folded.notes()[1] == "1 lines were no folded stacks"


def test_a_differential_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"main;work 12 13\n")
    with pytest.raises(BadInput, match="differential"):
        list(Folded(path).rows())


@pytest.mark.parametrize("text", [b"", b"hello\n", b"\0" * 9])
def test_what_holds_no_stack_is_refused(text: bytes) -> None:
    with pytest.raises(BadInput):
        list(Folded(io.BytesIO(text), Placing(at_ns=0)).rows())


def test_a_stream_has_no_date() -> None:
    with pytest.raises(BadInput, match="no date"):
        list(Folded(io.BytesIO(TEXT)).rows())


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    try:
        batches = list(Folded(io.BytesIO(data), Placing(at_ns=0)).rows())
    except BadInput:
        return
    assert sum(map(len, batches)) > 0
