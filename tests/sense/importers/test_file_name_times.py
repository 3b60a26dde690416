"""Times and days in the names of files: whole ones are found, others are nothing."""

from __future__ import annotations

import pytest

from necroscope.sense.importers.file_name_times import NS, day_in_name, time_in_name, zone_ns


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("kern.log-20261116.gz", "2026-11-16"),
        ("dmesg_2026-11-16T22-34.txt", "2026-11-16"),
        ("node7-20261116223433.log", "2026-11-16"),
        ("2026.11.16", "2026-11-16"),
        ("sa20261116.json", "2026-11-16"),
        ("kern.log.1", None),
        ("20261332", None),
        ("12026111", None),
        ("", None),
        ("x" * 300 + "20261116", "2026-11-16"),
    ],
)
def test_days_in_names(name: str, day: str | None) -> None:
    assert (None if (found := day_in_name(name)) is None else str(found)) == day


@pytest.mark.parametrize(
    ("name", "named_s", "zoned", "ends"),
    [
        ("perf-node7-20260102-03-04-05-120s.data", 1_767_323_045, False, False),
        ("perf_2026-01-02T03:04:05Z.data", 1_767_323_045, True, False),
        ("perf.2026-01-02_05.04.05+0200.data.stacks", 1_767_323_045, True, False),
        ("perf-20260102030405.data", 1_767_323_045, False, False),
        ("perf-20260102-0304.data", 1_767_323_040, False, False),
        ("perf.data.2026010203040550", 1_767_323_045, False, True),
        ("ip-10-0-0-1-1767323045.data", 1_767_323_045, True, False),
        ("perf-20260102.data", None, False, False),
        ("perf-20261302-03-04-05.data", None, False, False),
        ("perf.data", None, False, False),
        ("node-7-0123456789012345678.data", None, False, False),
    ],
)
def test_times_in_names(name: str, named_s: int | None, zoned: bool, ends: bool) -> None:
    found = time_in_name(name)
    assert (found is None) == (named_s is None)
    if found is not None:
        assert (found.at_ns // NS, found.zoned, found.ends) == (named_s, zoned, ends)


@pytest.mark.parametrize("text", ["", "UTC", "+25:00", "+0200x", "+02:75"])
def test_what_is_no_zone_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no zone"):
        zone_ns(text)
