"""sysstat's JSON, as mpstat and sadf 12.6 print it."""

# ruff: noqa: E501 - lines of logs stand as they were written

from __future__ import annotations

import contextlib
import io
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import BadInput
from necroscope.sense.importers.rows import SignalsAt
from necroscope.sense.importers.source import CUT_SHORT, Placing
from necroscope.sense.importers.sysstat.mpstat import Mpstat

S = 10**9
AT = 1_794_852_038 * S  # 2026-11-16 18:00:38 UTC
MPSTAT = b"""{"sysstat": {
\t"hosts": [
\t\t{
\t\t\t"nodename": "vm",
\t\t\t"sysname": "Linux",
\t\t\t"release": "6.18.44-fc-v490",
\t\t\t"machine": "x86_64",
\t\t\t"number-of-cpus": 2,
\t\t\t"date": "11/16/26",
\t\t\t"statistics": [
\t\t\t\t{
\t\t\t\t\t"timestamp": "18:00:38",
\t\t\t\t\t"cpu-load": [
\t\t\t\t\t\t{"cpu": "all", "usr": 74.13, "nice": 0.00, "sys": 25.37, "iowait": 0.00, "irq": 0.00, "soft": 0.50, "steal": 0.00, "guest": 0.00, "gnice": 0.00, "idle": 0.00},
\t\t\t\t\t\t{"cpu": "0", "usr": 86.00, "nice": 0.00, "sys": 14.00, "iowait": 0.00, "irq": 0.00, "soft": 0.00, "steal": 0.00, "guest": 0.00, "gnice": 0.00, "idle": 0.00},
\t\t\t\t\t\t{"cpu": "1", "usr": 62.38, "nice": 0.00, "sys": 36.63, "iowait": 0.00, "irq": 0.00, "soft": 0.99, "steal": 0.00, "guest": 0.00, "gnice": 0.00, "idle": 0.00}
\t\t\t\t\t]
\t\t\t\t},
\t\t\t\t{
\t\t\t\t\t"timestamp": "18:00:39",
\t\t\t\t\t"cpu-load": [
\t\t\t\t\t\t{"cpu": "all", "usr": 70.65, "nice": 0.00, "sys": 28.86, "iowait": 0.00, "irq": 0.00, "soft": 0.00, "steal": 0.50, "guest": 0.00, "gnice": 0.00, "idle": 0.00},
\t\t\t\t\t\t{"cpu": "0", "usr": 67.68, "nice": 0.00, "sys": 32.32, "iowait": 0.00, "irq": 0.00, "soft": 0.00, "steal": 0.00, "guest": 0.00, "gnice": 0.00, "idle": 0.00},
\t\t\t\t\t\t{"cpu": "1", "usr": 73.53, "nice": 0.00, "sys": 25.49, "iowait": 0.00, "irq": 0.00, "soft": 0.00, "steal": 0.98, "guest": 0.00, "gnice": 0.00, "idle": 0.00}
\t\t\t\t\t],
\t\t\t\t\t"sum-interrupts": [{"cpu": "all", "intr": 952.00}]
\t\t\t\t}
\t\t\t]
\t\t}
\t]
}}
"""
SADF = b"""{"sysstat": {
\t"hosts": [
\t\t{
\t\t\t"nodename": "vm",
\t\t\t"file-date": "2026-11-16",
\t\t\t"file-utc-time": "18:00:40",
\t\t\t"timezone": "UTC",
\t\t\t"statistics": [
\t\t\t\t{
\t\t\t\t\t"timestamp": {"date": "2026-11-16", "time": "18:10:00", "utc": 1, "interval": 600},
\t\t\t\t\t"cpu-load": [
\t\t\t\t\t\t{"cpu": "all", "user": 74.00, "nice": 0.00, "system": 26.00, "iowait": 0.00, "steal": 0.00, "idle": 0.00},
\t\t\t\t\t\t{"cpu": "3", "user": 62.38, "nice": 0.00, "system": 37.62, "iowait": 0.00, "steal": 0.00, "idle": 0.00}
\t\t\t\t\t]
\t\t\t\t}
\t\t\t],
\t\t\t"restarts": [
\t\t\t]
\t\t}
\t]
}}
"""


def read(tmp_path: Path, text: bytes, placing: Placing | None = None) -> list[SignalsAt]:
    path = tmp_path / "mpstat.json"
    path.write_bytes(text)
    return list(Mpstat(path, placing or Placing()).rows())


def values(row: SignalsAt) -> dict[tuple[str, ...], float]:
    assert {sample.signal for sample in row.samples} == {"cpu_time_seconds"}
    return {sample.labels: sample.value for sample in row.samples}


def test_shares_become_counters_with_a_row_at_the_start(tmp_path: Path) -> None:
    rows = read(tmp_path, MPSTAT)
    assert [row.at_ns for row in rows] == [AT - S, AT, AT + S]
    assert {row.source for row in rows} == {"cpu"}
    assert set(values(rows[0]).values()) == {0.0}
    assert values(rows[1])["0", "user"] == 0.86
    assert values(rows[1])["1", "system"] == 0.3663
    assert values(rows[1])["1", "softirq"] == 0.0099
    assert values(rows[2])["1", "steal"] == 0.0098
    assert values(rows[2])["0", "system"] == pytest.approx(0.14 + 0.3232)
    assert ("all", "user") not in values(rows[1])
    assert sum(value for (cpu, _), value in values(rows[2]).items() if cpu == "0") == pytest.approx(2.0, abs=0.001)


def test_sadf_has_dates_and_intervals(tmp_path: Path) -> None:
    rows = read(tmp_path, SADF)
    at = 1_794_852_600 * S  # 2026-11-16 18:10:00 UTC
    assert [row.at_ns for row in rows] == [at - 600 * S, at]
    assert values(rows[1]) == pytest.approx(
        {("3", "user"): 374.28, ("3", "nice"): 0, ("3", "system"): 225.72, ("3", "iowait"): 0, ("3", "steal"): 0, ("3", "idle"): 0}
    )  # fmt: skip


def test_the_day_changes_at_midnight_and_zones_are_added(tmp_path: Path) -> None:
    text = MPSTAT.replace(b"18:00:38", b"23:59:59").replace(b"18:00:39", b"00:00:00")
    midnight = 1_794_873_600 * S
    assert [row.at_ns for row in read(tmp_path, text)] == [midnight - 2 * S, midnight - S, midnight]
    assert read(tmp_path, MPSTAT, Placing(clock_offset_ns=8 * 3600 * S))[1].at_ns == AT + 8 * 3600 * S
    pm = MPSTAT.replace(b"18:00:38", b"06:00:38 PM").replace(b"18:00:39", b"06:00:39 PM")
    assert read(tmp_path, pm)[1].at_ns == AT
    odd = MPSTAT.replace(b"11/16/26", b"16 nov.")
    with pytest.raises(BadInput, match="date"):
        list(Mpstat(io.BytesIO(odd)).rows())
    assert read(tmp_path, odd, Placing(at_ns=AT))[1].at_ns == AT


def test_a_gap_and_a_core_that_comes_later_begin_with_what_was_known(tmp_path: Path) -> None:
    document = json.loads(SADF)
    entries = document["sysstat"]["hosts"][0]["statistics"]
    later = json.loads(json.dumps(entries[0]))
    later["timestamp"] |= {"time": "20:00:00"}
    later["cpu-load"].append({"cpu": "4", "user": 100.0, "system": 0.0, "idle": 0.0})
    entries.append(later)
    rows = read(tmp_path, json.dumps(document).encode())
    assert [(row.at_ns - rows[0].at_ns) // S for row in rows] == [0, 600, 6600, 7200]
    assert values(rows[2])["3", "user"] == values(rows[1])["3", "user"]
    assert values(rows[2])["4", "user"] == 0
    assert values(rows[3])["4", "user"] == 600


def test_a_killed_mpstat_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    cut = MPSTAT[: MPSTAT.index(b"\t\t\t]\n\t\t}")]
    assert len(read(tmp_path, cut)) == 3
    path = tmp_path / "cut.json"
    for size in (len(cut), MPSTAT.index(b'"sum-interrupts"'), MPSTAT.index(b'"cpu": "1", "usr": 73') + 30):
        path.write_bytes(MPSTAT[:size])
        assert Mpstat(path).notes() == (CUT_SHORT,)
    path.write_bytes(MPSTAT)
    assert Mpstat(path).notes() == ()


def test_the_only_host_must_be_the_one_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_bytes(MPSTAT)
    assert Mpstat(path, Placing(host="vm")).host == "vm"
    with pytest.raises(BadInput, match=r"nothing of other, only of vm$") as caught:
        Mpstat(path, Placing(host="other"))
    assert "--host" in caught.value.hint


@pytest.mark.parametrize(
    "text", [b"", b"{}", b"[]", b'{"sysstat": {"hosts": [3]}}', b'{"sysstat": {"hosts": []}}', b"\0", b"[" * 10**5,
             b'{"sysstat": {"hosts": [{"statistics": []}]}}', b'{"sysstat": {"hosts": [{"statistics": [1, {"timestamp": 2}]}]}}'],
)  # fmt: skip
def test_what_is_no_load_is_refused(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(BadInput):
        read(tmp_path, text)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8), lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["cpu", "usr", "timestamp", "cpu-load", "date", "time", "interval", "idle"]), inner), max_leaves=12,
)  # fmt: skip


@given(ANYTHING)
def test_strange_documents_are_bad_input_at_most(entry: Any) -> None:
    text = json.dumps({"sysstat": {"hosts": [{"date": "2026-11-16", "statistics": [entry, entry]}]}}).encode()
    with contextlib.suppress(BadInput):
        list(Mpstat(io.BytesIO(text)).rows())


@pytest.mark.skipif(not shutil.which("mpstat"), reason="needs mpstat (Debian: sysstat)")
def test_the_real_mpstat(tmp_path: Path) -> None:
    text = subprocess.run(["mpstat", "-P", "ALL", "1", "2", "-o", "JSON"], capture_output=True, check=True).stdout
    rows = read(tmp_path, text)
    assert len(rows) == 3
    for cpu in {labels[0] for labels in values(rows[2])}:
        total = sum(value for (core, _), value in values(rows[2]).items() if core == cpu)
        assert total == pytest.approx(2.0, abs=0.01)
