"""Files of other tools on one timeline: each kind goes where it belongs, twice is once."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from necroscope.errors import BadInput
from necroscope.query.engine import Engine
from necroscope.record.foreign import How, import_file
from necroscope.record.importing import Imported
from necroscope.sense.cpu import Cpu
from necroscope.sense.host import Host
from necroscope.sense.importers.source import Placing
from necroscope.store.reader import Store
from necroscope.store.writer import Writer

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
    told = ask(store, "select kind, source, at_ns // 1000000000 s from events order by at_ns")
    assert [(row["source"], row["s"]) for row in told] == [("dmesg", START_S), ("dmesg", START_S + 1)]
    assert told[1]["kind"] == "soft-lockup"
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
