"""Which importer a file is for; and all of them on one timeline."""

# ruff: noqa: E501 - lines of logs stand as they were written

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from necroscope.errors import BadInput
from necroscope.sense.importers.logs.dmesg import Dmesg
from necroscope.sense.importers.logs.ray_logs import RayLogs
from necroscope.sense.importers.perf_script.importer import PerfScript
from necroscope.sense.importers.rows import LogEvent
from necroscope.sense.importers.sniff import kind_of
from necroscope.sense.importers.source import Placing, Source
from necroscope.sense.perf.samples import SampleBatch

SCRIPT = b"python3 12977 [000] 11528.896142:      71428 cpu-clock:ppp: \n\t  1b9217 f+0x37 (/bin/x)\n\n"
EXAMPLES = {
    "perf-data": b"PERFILE2" + bytes(200),
    "perf-script": b"# ========\n# captured on    : Mon Nov 16 18:03:37 2026\n# ========\n#\n" + SCRIPT,
    "folded": b"a;b;c 12\na;b 3\nmain 1\n",
    "pprof": b"\x12\x06\x0a\x01\x01\x12\x01\x05\x22\x06\x08\x01\x22\x02\x08\x01\x2a\x04\x08\x01\x10\x01\x32\x00\x32\x04main",
    "mpstat": b'{"sysstat": {\n\t"hosts": [\n\t\t{\n\t\t\t"nodename": "vm",\n',
    "dmesg": b"[    0.000000] Linux version 6.18.44\n[    0.100000] x\n",
    "journal-json": b'{"__REALTIME_TIMESTAMP":"1794852202056570","_TRANSPORT":"kernel","MESSAGE":"x"}\n',
    "ray": b"[2026-11-16 18:01:29,547 W 2895 2895] (gcs_server) gcs_node_manager.cc:761: x\n",
}


def sniffed(tmp_path: Path, data: bytes) -> str:
    path = tmp_path / "file"
    path.write_bytes(data)
    return kind_of(path)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_each_kind_is_known_by_its_beginning(tmp_path: Path, kind: str) -> None:
    assert sniffed(tmp_path, EXAMPLES[kind]) == kind
    for pack in (gzip.compress, lzma.compress, bz2.compress):
        assert sniffed(tmp_path, pack(EXAMPLES[kind] * 3)) == kind
    if kind not in ("perf-data", "pprof"):
        assert sniffed(tmp_path, EXAMPLES[kind].replace(b"\n", b"\r\n")) == kind


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"Nov 16 18:03:37 node7 kernel: x\n", "dmesg"),
        (b"2026-11-16T18:03:37,123456+00:00 x\n", "dmesg"),
        (b"kern  :warn  : [Mon Nov 16 18:18:43 2026] x\n", "dmesg"),
        (b"6,1234,5678901,-;text\n", "dmesg"),
        (b"2026-11-16 18:01:22,466\tINFO job_supervisor.py:437 -- Job\n", "ray"),
        (b'{"event_id": "5", "source_type": "JOBS", "message": "x", "timestamp": "1794852083"}\n', "ray"),
        (b"# ========\n" + b"# cmdline : x\n" * 8000, "perf-script"),
        (SCRIPT.replace(b"python3", b"Web Content"), "perf-script"),
        (
            b"java 14341 [016] 252732.474759: cycles:      7f36571947c0 is_nmethod() const (/opt/libjvm.so)\n",
            "perf-script",
        ),
        (b"swapper;cpu_idle 12 13\n", "folded"),
    ],
)
def test_forms(tmp_path: Path, data: bytes, kind: str) -> None:
    assert sniffed(tmp_path, data) == kind


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"\0" * 5000, b"\x7fELF" + bytes(range(256)), b"hello world\n", b"x" * 200_000, b"{}", b"[[[",
             gzip.compress(b""), gzip.compress(b"\0" * 10_000), b"\x1f\x8b" + b"junk" * 50, b"BZh9junk", b"\xfd7zXZ\0junk"],
)  # fmt: skip
def test_what_is_nothing_is_refused_with_one_sentence(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(BadInput) as refused:
        sniffed(tmp_path, data)
    assert "\n" not in refused.value.message
    assert refused.value.hint


def test_folders_and_files_that_are_not_there(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none", Path("/dev/zero"), Path("a\0b")):
        with pytest.raises(BadInput):
            kind_of(path)


def test_a_bomb_is_not_expanded(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(256):
            file.write(b"[" * (1 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(BadInput):
            kind_of(path)
        with Source(path) as source:
            assert sum(map(len, source.lines())) == 64 << 10
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.one_of(
        st.binary(max_size=300), st.binary(max_size=60).map(lambda b: b"\x1f\x8b\x08" + b), st.text().map(str.encode)
    )
)
def test_any_bytes_are_a_kind_or_bad_input(tmp_path: Path, data: bytes) -> None:
    with contextlib.suppress(BadInput):
        assert sniffed(tmp_path, data) in EXAMPLES


@given(st.lists(st.binary(max_size=200), max_size=8), st.integers(1, 5))
def test_a_stream_is_read_line_by_line(lines: list[bytes], members: int) -> None:
    import io

    lines = [line.replace(b"\n", b"").rstrip(b"\r") for line in lines]
    text = b"".join(line + b"\n" for line in lines)
    packed = b"".join(gzip.compress(text) for _ in range(members))
    assert list(Source(io.BytesIO(packed)).lines()) == lines * members


# -- one timeline ---------------------------------------------------------------------------------------------------------


def test_samples_resets_lockups_and_a_dead_actor_land_on_one_timeline(tmp_path: Path) -> None:
    """A profile with monotonic times, a kernel log counted from boot, and a Ray log in local time, of one minute."""
    boot_ns = 1_794_852_202_056_570_000 - 11_528_622_350_266
    script, kernel, ray = (tmp_path / name for name in ("perf.txt.gz", "dmesg.txt", "gcs_server.out"))
    reference = (
        b"# reference time: 2026-11-16 18:03:22.056570 = 1794852202.056570 (TOD) = 11528.622350266 (monotonic)\n"
    )
    script.write_bytes(gzip.compress(b"# ========\n" + reference + b"# ========\n#\n" + SCRIPT))
    kernel.write_bytes(
        b"[11529.000000] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [kubelet:4711]\n"
        b"[11531.000000] ena 0000:20:03.0 eth0: TX q 5 is paused for too long (threshold 5000000). Time since last napi "
        b"6596000 usec. napi scheduled: 1\n"
        b"[11531.500000] ena 0000:20:03.0: Device reset completed successfully, Driver info: ENA\n"
        b"[11533.000000] mlx5_core 0000:3b:00.0 ens3f0: TX timeout detected\n"
    )
    ray.write_bytes(
        b"[2026-11-16 10:03:29,000 I 1 1] (gcs_server) gcs_actor_manager.cc:1: Actor is failed on worker aa at node bb, "
        b"need_reschedule = 1, remaining_restarts = 0 actor_id=a4f6b483aa4aa320e0ea816001000000\n"
    )
    profile = PerfScript(script)
    offset_ns, exact = profile.utc_offset_ns()
    assert exact
    timeline: list[tuple[int, str]] = []
    rows: list[SampleBatch | LogEvent] = [row for row in profile.rows() if isinstance(row, SampleBatch)]
    rows += [*Dmesg(kernel, Placing(clock_offset_ns=boot_ns)).rows()]
    rows += [*RayLogs(ray, Placing(clock_offset_ns=8 * 3600 * 10**9)).rows()]
    for row in rows:
        if isinstance(row, SampleBatch):
            timeline += [(at + offset_ns, "sample") for at in row.at_ns.tolist()]
        else:
            timeline.append((row.at_ns, row.kind))
    assert [kind for _, kind in sorted(timeline)] == [
        "sample", "soft-lockup", "nic-reset", "nic-tx-timeout", "ray-actor-died",
    ]  # fmt: skip
    assert max(timeline)[0] - min(timeline)[0] < 10 * 10**9
