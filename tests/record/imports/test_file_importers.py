"""Files of other tools on one timeline: each kind goes where it belongs, twice is once."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from perf import recorded

from necroscope.errors import BadInput
from necroscope.query.sql.engine import Engine
from necroscope.record.imports.file_importers import How, import_file
from necroscope.record.imports.perf_recordings import Imported
from necroscope.sense.cpu.times import Cpu
from necroscope.sense.host import Host
from necroscope.sense.importers.profiles.perf_data import PerfData
from necroscope.sense.importers.source import CUT_SHORT, LATEST_NS, Placing
from necroscope.sense.perf.samples import SampleBatch
from necroscope.store import inbox
from necroscope.store.read.catalog import all_segments
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event

START_S = 1_767_323_045
SCRIPT = "".join(
    f"kubelet  4711/4720  [001] {START_S + number / 97:.6f}:   10309278 cpu-clock:ppp: \n"
    f"\tffffffff8127a6d0 mem_cgroup_iter+0x50 ([kernel.kallsyms])\n\t    7f00000012ab read+0xb (/usr/lib/libc.so.6)\n\n"
    for number in range(97)
)
DMESG = (
    "[  100.000000] ena 0000:20:03.0 eth0: TX q 5 is paused for too long (threshold 5000000). Time since last napi "
    "6596000 usec. napi scheduled: 1\n"
    "[  101.500000] watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [kubelet:4711]\n"
)
MPSTAT = {
    "sysstat": {
        "hosts": [
            {
                "nodename": "node7",
                "date": "2026-01-02",
                "statistics": [
                    {
                        "timestamp": f"03:04:0{second}",
                        "cpu-load": [
                            {"cpu": "1", "usr": 1.0, "nice": 0.0, "sys": 95.0, "iowait": 0.0, "irq": 0.0, "soft": 4.0}
                            | {"steal": 0.0, "guest": 0.0, "gnice": 0.0, "idle": 0.0}
                        ],
                    }
                    for second in range(5, 9)
                ],
            }
        ]
    }
}


def put(store: Path, path: Path, placing: Placing | None = None) -> tuple[str, Imported]:
    writer = Writer(store, signals=Cpu.signals)
    try:
        return import_file(writer, path, How(Host(), placing or Placing()))
    finally:
        writer.close(merge=False)


def ask(store: Path, question: str) -> list[dict[str, object]]:
    with Engine(Store(store)) as engine:
        return list(engine.ask(question).rows())


def test_files_of_several_tools_land_on_one_timeline(tmp_path: Path) -> None:
    store = tmp_path / "store"
    (tmp_path / "perf.txt.gz").write_bytes(gzip.compress(SCRIPT.encode()))
    (tmp_path / "dmesg").write_text(DMESG)
    (tmp_path / "mpstat.json").write_text(json.dumps(MPSTAT))
    kind, done = put(store, tmp_path / "perf.txt.gz")
    assert (kind, done.samples, done.exact) == ("perf-script", 97, True)
    kind, done = put(store, tmp_path / "dmesg", Placing(clock_offset_ns=(START_S - 100) * 10**9))
    assert (kind, done.events) == ("dmesg", 2)
    assert put(store, tmp_path / "mpstat.json", Placing(clock_offset_ns=0))[0] == "mpstat"
    (counted,) = ask(store, f"select count(*) n, min(at_ns) // 1000000000 s from samples where at_ns < {START_S + 1}e9")
    assert counted == {"n": 97, "s": START_S}
    events = ask(store, "select kind, source, at_ns // 1000000000 s from events order by at_ns")
    assert [(row["source"], row["s"]) for row in events] == [("dmesg", START_S), ("dmesg", START_S + 1)]
    assert events[1]["kind"] == "soft-lockup"
    cores = ask(store, "select cpu, round(system, 2) as system from cores")
    assert cores
    assert all(row == {"cpu": 1, "system": 0.95} for row in cores)


@pytest.mark.parametrize("text", [SCRIPT, DMESG, "main;read;do_syscall_64 12\nmain;write 3\n"])
def test_the_same_file_again_adds_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)
    placing = Placing(clock_offset_ns=START_S * 10**9) if text == DMESG else Placing(at_ns=START_S * 10**9)
    kind, first = put(tmp_path / "store", tmp_path / "file", placing)
    before = ask(tmp_path / "store", "select (select count(*) from samples) s, (select count(*) from events) e")
    again = put(tmp_path / "store", tmp_path / "file", placing)[1]
    assert again.already
    assert not first.already
    assert ask(tmp_path / "store", "select (select count(*) from samples) s, (select count(*) from events) e") == before
    assert kind in ("perf-script", "dmesg", "folded")


def test_what_nobody_can_read_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "noise").write_bytes(bytes(range(256)) * 20)
    with pytest.raises(BadInput, match="no text and no perf"):
        put(tmp_path / "store", tmp_path / "noise")


def test_a_corrected_import_replaces_the_first(tmp_path: Path) -> None:
    """Also what `mark` left meanwhile stays, and a correction that fails changes nothing."""
    store, log = tmp_path / "store", tmp_path / "dmesg"
    log.write_text(DMESG)
    first, right = Placing(clock_offset_ns=START_S * 10**9), Placing(clock_offset_ns=(START_S - 100) * 10**9)
    Writer(store).close()
    inbox.put(store, Event(START_S * 10**9, "mark", "mark", "", "deploy"))
    assert put(store, log, first)[1].events == 2
    assert put(store, log, first)[1].already
    with pytest.raises(BadInput, match="before 1970"):
        put(store, log, Placing(clock_offset_ns=-(10**12)))
    asked = "select at_ns // 1000000000 s, source from events where source in ('dmesg', 'mark') order by at_ns, source"
    assert [row["s"] for row in ask(store, asked)] == [START_S, START_S + 100, START_S + 101]
    kind, done = put(store, log, right)
    assert (kind, done.events, done.already) == ("dmesg", 2, False)
    assert any("replaces" in note for note in done.notes)
    assert [(row["source"], row["s"]) for row in ask(store, asked)] == [
        ("dmesg", START_S),
        ("mark", START_S),
        ("dmesg", START_S + 1),
    ]
    assert put(store, log, right)[1].already


def test_a_corrected_import_of_what_was_merged_is_refused(tmp_path: Path) -> None:
    store, log = tmp_path / "store", tmp_path / "dmesg"
    log.write_text(DMESG)
    put(store, log, Placing(clock_offset_ns=START_S * 10**9))
    (made,) = all_segments(store)
    made.path.rename(made.path.with_name(made.path.name[:-8] + f"{made.last + 1:08d}"))
    with pytest.raises(BadInput, match="imported before with other options") as caught:
        put(store, log, Placing(clock_offset_ns=0))
    assert "fresh store" in caught.value.hint


def test_perf_data_is_placed_where_the_user_says(tmp_path: Path) -> None:
    path = recorded.FOLDER / "file.data"
    at_ns = START_S * 10**9
    with PerfData(path) as data:
        own_ns = min(int(row.at_ns.min()) for row in data.rows() if isinstance(row, SampleBatch))
    for placing, first_ns in ((Placing(at_ns=at_ns), at_ns), (Placing(clock_offset_ns=at_ns), at_ns + own_ns)):
        kind, done = put(tmp_path / "store", path, placing)
        assert (kind, done.exact, done.already) == ("perf-data", True, False)
        assert ask(tmp_path / "store", "select min(at_ns) t, count(*) n from samples") == [
            {"t": first_ns, "n": done.samples}
        ]


FILES = {"perf.txt": SCRIPT, "dmesg": DMESG, "mpstat.json": json.dumps(MPSTAT), "folded": "main;work 12\n"}


@pytest.mark.parametrize("name", [*FILES, "perf.data"])
@pytest.mark.parametrize(
    ("at_ns", "offset_ns"), [(0, None), (LATEST_NS, None), (None, LATEST_NS), (None, -LATEST_NS), (None, -(10**16))]
)
def test_times_out_of_all_calendars_are_bad_input(
    tmp_path: Path, name: str, at_ns: int | None, offset_ns: int | None
) -> None:
    path = tmp_path / name
    path.write_bytes(recorded.data("file") if name == "perf.data" else FILES[name].encode())
    count = "select count(*) n, coalesce(min(at_ns), 0) >= 0 as sane from"
    try:
        put(tmp_path / "store", path, Placing("", at_ns, offset_ns))
        rows = None
    except BadInput:
        rows = 0
    for view in ("samples", "events", "cores"):
        (found,) = ask(tmp_path / "store", f"{count} {view}")
        assert found["sane"]
        assert rows is None or found["n"] == 0, "all of a file or nothing"


@pytest.mark.parametrize("placing", [{"at_ns": -1}, {"at_ns": 1 << 63}, {"clock_offset_ns": 10**30}])
def test_a_placing_that_leads_nowhere_is_bad_input(placing: dict[str, int]) -> None:
    with pytest.raises(BadInput):
        Placing(**placing)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["perf.txt", "dmesg", "folded"])
def test_a_packed_file_that_was_cut_says_so(tmp_path: Path, name: str) -> None:
    dice = random.Random(7)
    noise = "".join(f"# {dice.random()}\n" for _ in range(2000))
    packed = gzip.compress((FILES[name] + noise).encode())
    path = tmp_path / f"{name}.gz"
    path.write_bytes(packed[: len(packed) // 2])
    assert CUT_SHORT in put(tmp_path / "store", path, Placing(at_ns=START_S * 10**9))[1].notes


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("name", list(FILES))
def test_a_packed_copy_adds_nothing(tmp_path: Path, name: str, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "plain").write_text(FILES[name])
    (tmp_path / "packed").write_bytes(pack(FILES[name].encode()))
    placing = Placing(at_ns=START_S * 10**9)
    assert not put(tmp_path / "store", tmp_path / "plain", placing)[1].already
    assert put(tmp_path / "store", tmp_path / "packed", placing)[1].already


def test_a_damaged_recording_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.data"
    path.write_bytes(recorded.data("file")[:60])
    with pytest.raises(BadInput, match="cut short") as caught:
        put(tmp_path / "store", path)
    assert caught.value.message.startswith(str(path))
    assert caught.value.hint
