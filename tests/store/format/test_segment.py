"""Segments hold exactly the rows they were given, sorted and small, and are there whole or not at all."""

from __future__ import annotations

import errno
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from necroscope.clock import NS
from necroscope.store.format import pack, segment
from necroscope.store.format.arrow import Tables, from_rows
from necroscope.store.format.manifest import Damaged
from necroscope.store.format.rows import (
    core_rows,
    event_rows,
    process_rows,
    sample_rows,
    unit_rows,
    zombie_name_rows,
    zombie_rows,
)
from necroscope.store.format.segment import merged, read_segment, read_table, write_segment
from necroscope.store.format.signals import SignalLog
from necroscope.store.format.tables import LIVE_STACKS, SEGMENT
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import ParentCount, ProcessUse, UnitState, ZombieName
from stage.older import without_manifest
from stage.recorded import LOOP, STACKS, START_NS, SYSCALL, WALK, batch, look, second, stack


def stack_table(*frames: tuple[tuple[str, str], ...]) -> object:
    rows = [(stack(one).stack_id, "".join(f"{name}\x1f{module}\x1e" for name, module in one)) for one in frames]
    return from_rows(LIVE_STACKS, rows)


def everything() -> Tables:
    log = SignalLog(4, {"cpu_time_seconds": ("cpu", "mode")}, {})
    for number in range(3):
        log.add(START_NS + number * NS, look(number), "cpu")
    return {
        "samples": sample_rows(second(0)),
        "stacks": stack_table(*STACKS),
        "events": event_rows([Event(START_NS + 5, "mark", "mark", "job", "failed"), Event(START_NS, "a", "b", "", "")]),
        "cores": core_rows([(START_NS, 0, 1000, 10, 990, 0, 0, None, 0), (START_NS, 1, 1000, 0, 0, 0, 0, 0, 1000)]),
        "zombies": zombie_rows(START_NS, [ParentCount("/docker", 12), ParentCount("/", 1)]),
        "units": unit_rows(START_NS, [UnitState("a.service", "failed", "failed", "exit-code", 3, exit_status=None)]),
        "processes": process_rows(
            START_NS,
            [
                ProcessUse(7, 99, "sh", "/a", 1.5, 0.25, None, 1 << 20, -1),
                ProcessUse(6, 98, "x", "", 0.01, 0.0, 2.125, 0, 3),
            ],
        ),
        "zombie_names": zombie_name_rows(
            START_NS, [ZombieName("/b/1", "/b/<n>", 1 << 40, None, 4096, "anon"), ZombieName("/a", "/a", 3, 1.25, 0)]
        ),
        **log.take(),
    }


def multiset(table: object) -> list[str]:
    return sorted(map(repr, table.to_pylist()))  # type: ignore[attr-defined]


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    tables = everything()
    made = write_segment(tmp_path, tables, 4, 4)
    assert made is not None
    check = zlib.crc32((made.path / "manifest.json").read_bytes())
    assert made.path.name == f"{START_NS}-{START_NS + 2 * NS}-00000004-00000004-{check:08x}"
    # Nearly every sample is of another thread and cgroup: their roll-up would save nothing.
    assert {path.stem for path in made.path.iterdir()} == {"manifest", *(table.name for table in SEGMENT)} - {"tasks"}
    again = read_segment(made)
    assert again.keys() == tables.keys()
    for name, table in tables.items():
        assert multiset(again[name]) == multiset(table), name
        assert again[name].schema == table.schema, name


def test_no_rows_make_no_segment(tmp_path: Path) -> None:
    assert write_segment(tmp_path, {}, 1, 1) is None
    assert list(tmp_path.iterdir()) == []


def test_samples_go_by_core_and_time_in_row_groups_that_go_by_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack, "ROWS_PER_GROUP", 50)
    at_ns = [START_NS + number * 1_000_003 for number in np.random.default_rng(1).permutation(180).tolist()]
    samples = sample_rows(batch(at_ns, [stack(LOOP)]))
    made = write_segment(tmp_path, {"samples": samples, "stacks": stack_table(LOOP)}, 1, 1)
    assert made is not None
    with pq.ParquetFile(made.file("samples")) as file:
        groups = [file.read_row_group(number) for number in range(file.num_row_groups)]
        limits = file.metadata.row_group(1).column(1).statistics
    assert len(groups) == 4
    last = 0
    for group in groups:
        rows = list(zip(group["cpu"].to_pylist(), group["at_ns"].to_pylist(), strict=True))
        assert rows == sorted(rows)
        assert min(at for _, at in rows) > last
        last = max(at for _, at in rows)
    assert (limits.min, limits.max) == (START_NS + 50 * 1_000_003, START_NS + 99 * 1_000_003)


def test_roll_ups_add_up_to_the_samples(tmp_path: Path) -> None:
    made = write_segment(tmp_path, {"samples": sample_rows(second(0)), "stacks": stack_table(*STACKS)}, 1, 1)
    assert made is not None
    seconds, stacks = read_table(made, "seconds"), read_table(made, "stacks")
    assert seconds is not None
    assert stacks is not None
    rows = {row["cpu"]: row for row in seconds.to_pylist()}
    # 20 samples, alternating cores, three stacks in turn of which two end in the kernel.
    assert (rows[0]["samples"], rows[0]["kernel"], rows[0]["weight"]) == (10, 7, 10 * 10_309_278)
    assert (rows[1]["samples"], rows[1]["kernel"]) == (10, 6)
    assert rows[0]["second"] == START_NS // NS
    counts = dict(zip(stacks["stack_id"].to_pylist(), stacks["samples"].to_pylist(), strict=True))
    assert counts == {stack(SYSCALL).stack_id: 7, stack(LOOP).stack_id: 7, stack(WALK).stack_id: 6}
    assert stacks["frames"].to_pylist() == sorted(stacks["frames"].to_pylist())
    assert stacks["stack"].to_pylist() == [0, 1, 2]


def test_an_unknown_stack_keeps_its_id_and_has_no_frames(tmp_path: Path) -> None:
    made = write_segment(tmp_path, {"samples": sample_rows(second(0)), "stacks": stack_table(LOOP)}, 1, 1)
    assert made is not None
    again = read_segment(made)
    assert multiset(again["samples"]) == multiset(sample_rows(second(0)))
    frames = dict(zip(again["stacks"]["stack_id"].to_pylist(), again["stacks"]["frames"].to_pylist(), strict=True))
    assert frames[stack(WALK).stack_id] == ""
    assert frames[stack(LOOP).stack_id] == "main\x1fworker\x1espin\x1fworker\x1e"
    assert write_segment(tmp_path, {"samples": sample_rows(second(9))}, 2, 2) is not None


def test_a_user_process_cannot_look_like_the_kernel(tmp_path: Path) -> None:
    frames = [(("f", "[vdso]"),), (("f", "[unknown]"),), (("f", "[nf_tables]"),), ()]
    samples = sample_rows(batch([START_NS] * 4, [stack(one) for one in frames], cpus=1))
    made = write_segment(tmp_path, {"samples": samples, "stacks": stack_table(*frames)}, 1, 1)
    assert made is not None
    seconds = read_table(made, "seconds")
    assert seconds is not None
    assert seconds["kernel"].to_pylist() == [1]


def test_merged_segments_keep_stacks_once(tmp_path: Path) -> None:
    parts = [
        write_segment(
            tmp_path, {"samples": sample_rows(second(number)), "stacks": stack_table(*STACKS)}, number, number
        )
        for number in (1, 2)
    ]
    together = write_segment(tmp_path, merged([read_segment(part) for part in parts if part]), 1, 2)
    assert together is not None
    stacks = read_table(together, "stacks")
    assert stacks is not None
    assert (stacks.num_rows, sum(stacks["samples"].to_pylist())) == (3, 40)
    assert multiset(read_segment(together)["samples"]) == sorted(
        multiset(sample_rows(second(1))) + multiset(sample_rows(second(2)))
    )


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def full_disk(path: Path) -> None:
        calls.append(path)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(segment, "sync_path", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_segment(tmp_path, everything(), 1, 1)
    assert list(tmp_path.iterdir()) == []


def test_everything_is_synced_before_it_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[str, bool]] = []
    monkeypatch.setattr(segment, "sync_path", lambda path: synced.append((path.name, any(tmp_path.glob("1*")))))
    made = write_segment(tmp_path, everything(), 1, 1)
    assert made is not None
    names = [name for name, _ in synced]
    assert sorted([*names[:-2], "manifest.json"]) == sorted(path.name for path in made.path.iterdir())
    assert names[-2:] == [".00000001-00000001", tmp_path.name]
    assert [appeared for _, appeared in synced] == [False] * (len(names) - 1) + [True]


@settings(max_examples=40, deadline=None)
@given(
    at_ns=st.lists(st.integers(0, 2**62), min_size=1, max_size=30),
    frames=st.lists(
        st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=4).map(tuple), min_size=1, max_size=4
    ),
    comms=st.lists(st.text(max_size=16), min_size=1, max_size=3),
)
def test_any_samples_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    at_ns: list[int],
    frames: list[tuple[tuple[str, str], ...]],
    comms: list[str],
) -> None:
    samples = sample_rows(batch(at_ns, [stack(one) for one in frames], comms=comms))
    made = write_segment(tmp_path_factory.mktemp("s"), {"samples": samples, "stacks": stack_table(*frames)}, 1, 1)
    assert made is not None
    assert (made.from_ns, made.to_ns) == (min(at_ns), max(at_ns))
    assert multiset(read_segment(made)["samples"]) == multiset(samples)


def test_a_flipped_byte_is_found_and_never_read_as_other_rows(tmp_path: Path) -> None:
    made = write_segment(tmp_path, everything(), 4, 4)
    assert made is not None
    path = made.file("samples")
    whole, rows = path.read_bytes(), multiset(read_table(made, "samples"))
    with pq.ParquetFile(path) as file:
        assert file.metadata.metadata[b"necroscope"] == b"3"
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        with pytest.raises(Damaged):
            read_table(made, "samples")
    path.write_bytes(whole)
    assert multiset(read_table(made, "samples")) == rows


def test_before_manifests_pages_have_checksums_and_nothing_else_has(tmp_path: Path) -> None:
    made = write_segment(tmp_path, everything(), 4, 4)
    assert made is not None
    made = without_manifest(made)
    path = made.file("samples")
    whole, rows = path.read_bytes(), multiset(read_table(made, "samples"))
    start = int.from_bytes(whole[-8:-4], "little")  # the footer, which has no checksum
    found = 0
    for place in range(4, len(whole) - 8 - start):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        try:
            assert multiset(read_table(made, "samples")) == rows, "a header's byte that nobody reads"
        except (OSError, pa.ArrowException):
            found += 1
    assert found > 0.8 * (len(whole) - 12 - start)
