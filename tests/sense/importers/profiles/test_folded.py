"""Folded stacks."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import BadInput
from necroscope.sense.importers.profiles.folded import WINDOW_NS, Folded
from necroscope.sense.importers.profiles.folded_lines import ColumnHead, parse_column_head
from necroscope.sense.importers.sniff import kind_of
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


# -- what peers write ----------------------------------------------------------------------------------------------


def read(text: bytes) -> tuple[list[tuple[tuple[str, ...], int]], Folded]:
    folded = Folded(io.BytesIO(text), Placing(at_ns=0))
    stacks: dict[int, tuple[str, ...]] = {}
    found = []
    for batch in folded.rows():
        stacks |= {stack.stack_id: stack.frames for stack in batch.stacks}
        found += [
            (stacks[one], weight) for one, weight in zip(batch.stack_id.tolist(), batch.weight.tolist(), strict=True)
        ]
    return found, folded


def test_one_bad_line_is_counted_and_the_others_are_read(tmp_path: Path) -> None:
    text = b"a;b 12\na;c\nd;e 5\nf;worker 12 3\n"
    path = tmp_path / "x"
    path.write_bytes(text)
    assert kind_of(path) == "folded", "one line in four is none"
    found, folded = read(text)
    assert found == [(("a", "b"), 12), (("d", "e"), 5), (("f", "worker 12"), 3)]
    assert "1 lines were no folded stacks" in folded.notes()


def test_fractions_are_kept() -> None:
    found, folded = read(b"a;b 12.25\na;c 0.5\nd 3\n")
    assert found == [(("a", "b"), 1225), (("a", "c"), 50), (("d",), 300)]
    assert any(note.startswith("counts have fractions: of each, 100 times") for note in folded.notes())
    found, folded = read(b"a;b 12.00\nd 3\n")
    assert found == [(("a", "b"), 12), (("d",), 3)]
    assert not any("fractions" in note for note in folded.notes())


def test_a_frame_without_a_name_is_a_frame() -> None:
    found, _ = read(b"a;;b 1\n;c 2\nd; 3\n")
    assert found == [(("a", "[unknown]", "b"), 1), (("[unknown]", "c"), 2), (("d", "[unknown]"), 3)]


def test_counts_that_no_sum_holds_are_odd() -> None:
    found, folded = read(b"a;b 999999999999999999\na;c 4\nd;e 99999999999999999999\nf;g -3\n")
    assert found == [(("a", "c"), 4)]
    assert folded.odd_lines == 3


def test_separators_of_ours_are_no_names() -> None:
    found, _ = read(b"a\x1fb;c\x1ed 1\n")
    assert found == [(("a?b", "c?d"), 1)]


HEAD = {"containers": ["web"], "container_names_enabled": True, "application_metadata_enabled": True, "htmlblob": "x"}
METADATA = {"hostname": "node7", "profiling_mode": "cpu", "run_arguments": {"profile_api_version": None}}


@pytest.mark.parametrize("blob", ["", "x" * 3_000_000])
def test_gprofiler_s_columns_are_no_frames(tmp_path: Path, blob: str) -> None:
    fields = {**HEAD, "metadata": METADATA, "htmlblob": blob}
    text = f"# {json.dumps(fields)}\n0;;python;main 3\n12;web;java;Main.run 4\n0;;[kernel]_[k] 1\n".encode()
    path = tmp_path / "profile.col"
    path.write_bytes(text)
    assert kind_of(path) == "folded"
    found, folded = read(text)
    assert found == [(("python", "main"), 3), (("web", "java", "Main.run"), 4), (("[kernel]",), 1)]
    assert folded.notes()[0].startswith("folded stacks tell no time")
    assert any("gProfiler" in note for note in folded.notes())


def test_gprofiler_s_first_protocol_has_no_columns_and_a_start_may_be_given() -> None:
    fields = {
        **HEAD,
        "application_metadata_enabled": False,
        "metadata": {"run_arguments": {"profile_api_version": "v1"}},
    }
    assert parse_column_head(f"# {json.dumps(fields)}\n".encode()) == ColumnHead(0)
    head = parse_column_head(f"# {json.dumps({**fields, 'start_time': '2026-01-02T03:04:05'})}\n".encode())
    assert head is not None
    assert head.start_ns == 1_767_323_045_000_000_000
    for text in (b"", b"#\n", b"# {\n", b'# {"container_names_enabled": [}\n', b'# ["container"]\n', b"a;b 3\n"):
        assert parse_column_head(text) is None or parse_column_head(text) == ColumnHead(1)
