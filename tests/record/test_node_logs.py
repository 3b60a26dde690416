"""Small files of every shape, as people send them, through the whole import: what is in the store, and what is said."""

# ruff: noqa: E501 - sentences stand as they are said

from __future__ import annotations

import os
from pathlib import Path

import pytest

from necroscope.query.sql.engine import Engine
from necroscope.record.imports.file_importers import How, import_file
from necroscope.record.imports.perf_recordings import Imported
from necroscope.sense.cpu.times import Cpu
from necroscope.sense.host import Host
from necroscope.sense.importers.source import Placing
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer

FILES = Path(__file__).parents[1] / "sense" / "importers" / "node_logs"
S = 10**9
AT = 1_794_852_202  # 2026-11-16 18:03:22 UTC
BOOT = Placing(clock_offset_ns=(AT - 12_345) * S)
LOCAL = "its times are local, of a zone that it does not tell, and taken as UTC: see --zone"
NAMED = "the log names no year: 2026 is taken, from the file's name, 2026-11-17"
RUNTIME = "when the machine booted was taken from the time at which a container's runtime got its lines; if it slept since, times are off"  # fmt: skip
EXPECTED = [
    ("nic-reset", "eth0", 0),
    ("nic-tx-late", "eth1", 30),
    ("nic-tx-timeout", "eth4", 45),
    ("soft-lockup", "cpu39", 56),
]
LOGS: dict[str, tuple[Placing, tuple[str, ...]]] = {
    "dmesg.txt": (BOOT, ()),
    "dmesg-x.txt": (BOOT, ()),
    "dmesg-T.txt": (Placing(), (LOCAL,)),
    "dmesg-T-german.txt": (Placing(), (LOCAL,)),
    "dmesg-T-japanese.txt": (Placing(), (LOCAL,)),
    "dmesg-H-20261117.txt": (Placing(), (NAMED, LOCAL)),
    "dmesg-iso.txt": (Placing(), ()),
    "dmesg-colour.txt": (BOOT, ()),
    "dmesg-windows.txt": (BOOT, ()),
    "journalctl-k-20261117.txt": (Placing(), ("the log names no year: 2026 is taken, from the journal's head", LOCAL)),
    "journalctl-k-no-hostname-20261117.txt": (Placing(), (NAMED, LOCAL)),
    "journalctl-k-short-iso.txt": (Placing(), ()),
    "journalctl-k-short-precise-20261117.txt": (Placing(), (NAMED, LOCAL)),
    "journalctl-k-short-monotonic.txt": (BOOT, ()),
    "journalctl-k-short-full-berlin.txt": (Placing(), ()),
    "kern.log-20261117": (Placing(), (NAMED, LOCAL)),
    "rfc5424.log": (Placing(), ()),
    "containerd.log": (Placing(), (RUNTIME,)),
    "docker-json.log": (Placing(), (RUNTIME,)),
    "mail-20261117.txt": (Placing(), (NAMED, LOCAL, "2 lines were left out: they have no time")),
    "journal.json": (Placing(), ("1 entries were left out: neither the kernel's nor about a unit's life",)),
}


def put(store: Path, path: Path, placing: Placing) -> tuple[str, Imported]:
    writer = Writer(store, signals=Cpu.signals)
    try:
        return import_file(writer, path, How(Host(), placing))
    finally:
        writer.close(merge=False)


def ask(store: Path, question: str) -> list[dict[str, object]]:
    with Engine(Store(store)) as engine:
        return list(engine.ask(question).rows())


@pytest.fixture
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy, written the day after."""
    path = tmp_path / str(request.param)
    path.write_bytes((FILES / path.name).read_bytes())
    os.utime(path, (AT + 86_400, AT + 86_400))
    return path


def test_every_file_is_tried() -> None:
    others = {"sadf-600s.json", "mpstat-12-hours.json", "mpstat-japanese.json", "raylet.out", "gcs_server-json.out"}
    assert {path.name for path in FILES.iterdir()} == set(LOGS) | others


@pytest.mark.parametrize("file", LOGS, indirect=True)
def test_kernel_logs(tmp_path: Path, file: Path) -> None:
    placing, notes = LOGS[file.name]
    kind, done = put(tmp_path / "store", file, placing)
    assert kind == ("journal-json" if file.name == "journal.json" else "dmesg")
    assert done.notes == notes
    found = ask(
        tmp_path / "store", "select kind, subject, at_ns // 1000000000 - 1794852202 s from events order by at_ns"
    )
    assert [(row["kind"], row["subject"]) for row in found] == [(kind, subject) for kind, subject, _ in EXPECTED]
    slack = 60 if file.name.startswith("dmesg-H") else 1
    for row, (_, _, second) in zip(found, EXPECTED, strict=True):
        assert abs(int(str(row["s"])) - second) <= slack


@pytest.mark.parametrize("file", ["sadf-600s.json"], indirect=True)
def test_ten_minutes_of_sadf(tmp_path: Path, file: Path) -> None:
    kind, done = put(tmp_path / "store", file, Placing())
    assert (kind, done.looks, done.notes) == (
        "mpstat",
        4,
        ("averages of up to 10 min: of shorter times nothing is known",),
    )
    asked = (
        "select cpu, at_ns // 1000000000 - 1794852001 s, seconds, system, idle from cores where cpu = 0 order by at_ns"
    )
    assert ask(tmp_path / "store", asked) == [
        {"cpu": 0, "s": -600, "seconds": 600.0, "system": 0.15, "idle": 0.8},
        {"cpu": 0, "s": 0, "seconds": 600.0, "system": 0.1875, "idle": 0.75},
        {"cpu": 0, "s": 600, "seconds": 600.0, "system": 0.6, "idle": 0.2},
    ]


@pytest.mark.parametrize("file", ["mpstat-12-hours.json"], indirect=True)
def test_a_clock_of_twelve_hours_across_midnight(tmp_path: Path, file: Path) -> None:
    put(tmp_path / "store", file, Placing())
    asked = "select at_ns // 1000000000 - 1794873600 s, seconds, idle from cores where cpu = 1 order by at_ns"
    assert ask(tmp_path / "store", asked) == [{"s": s, "seconds": 600.0, "idle": 0.25} for s in (-600, 0, 600)]


@pytest.mark.parametrize("file", ["mpstat-japanese.json"], indirect=True)
def test_dates_and_times_of_japan(tmp_path: Path, file: Path) -> None:
    put(tmp_path / "store", file, Placing())
    asked = "select at_ns // 1000000000 - 1794852202 s, seconds from cores where cpu = 1 order by at_ns"
    assert ask(tmp_path / "store", asked) == [{"s": 0, "seconds": 1.0}, {"s": 1, "seconds": 1.0}]


@pytest.mark.parametrize("file", ["raylet.out", "gcs_server-json.out"], indirect=True)
def test_rays_own_words(tmp_path: Path, file: Path) -> None:
    kind, done = put(tmp_path / "store", file, Placing())
    assert kind == "ray"
    found = ask(tmp_path / "store", "select kind, subject, at_ns // 1000000 - 1794852202000 ms from events")
    if file.name == "raylet.out":
        assert found == [{"kind": "ray-worker-not-registered", "subject": "27991", "ms": 60_847}]
        assert done.notes == (LOCAL,)
    else:
        assert found == [{"kind": "ray-actor-died", "subject": "a4f6b483aa4aa320e0ea816001000000", "ms": 547}]
        assert done.notes == ()
