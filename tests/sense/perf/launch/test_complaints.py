"""perf's own words, as perf 5.10, 6.1, 6.12 and 7.2 print them, to the feature that they are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from necroscope.sense.host import Host
from necroscope.sense.perf.launch.complaints import first_sentence, forbidden, refused_feature, without_usage
from necroscope.sense.perf.launch.options import PerfOptions, named
from stage import perf_shim

USAGE = "\n Usage: perf record [<options>] [<command>]\n\n        --all-cgroups     Record cgroup events\n"
BAD_TERM = (
    "event syntax error: 'cycles/freq=97,name=cycles/'\n                     \\___ Bad event or PMU\n\n"
    "Unable to find PMU or event on a PMU of 'cycles'\n\nevent syntax error: 'cycles/freq=97,name=cycles/'\n"
    "                             \\___ unknown term 'name' for pmu 'cpu'\n"
)


@pytest.mark.parametrize(
    ("said", "feature"),
    [
        ("  Error: unknown option `all-cgroups'\n" + USAGE, "cgroups"),
        ("  Error: unknown option `buildid-mmap'\n" + USAGE, "build-ids"),
        ("  Error: unknown option `control'\n" + USAGE, "control"),
        ("  Error: unknown option `switch-output'\n" + USAGE, "signal"),
        (perf_shim.NO_BUILD_ID, "build-ids"),
        ("Couldn't synthesize cgroup events.\n", "cgroups"),
        (perf_shim.NO_TRACEPOINT, "tracepoints"),
        ("event syntax error: 'cgroup:cgroup_mkdir'\n                     \\___ unknown tracepoint\n", "tracepoints"),
        ("mount: /sys/kernel/tracing: permission denied.\n", "tracepoints"),
        ("unshare: unshare failed: Operation not permitted\n", "tracepoints"),
        (perf_shim.NO_NAME, "named"),
        (BAD_TERM, "named"),
        ("event syntax error: '..call-graph=no/'\n                         \\___ parser error\n", "bare-tracepoints"),
        (perf_shim.NO_OVERFLOW, "cycles"),
        ("Permission error mapping pages.\nConsider increasing /proc/sys/kernel/perf_event_mlock_kb,\n", "large-rings"),
        ("failed to mmap with 12 (Cannot allocate memory)\n", "large-rings"),
        (perf_shim.INVALID, None),
        ("", None),
    ],
)
def test_the_feature_that_perf_complains_of(said: str, feature: str | None) -> None:
    options = PerfOptions().without(named(["control"])) if feature == "signal" else PerfOptions()
    found = refused_feature(without_usage(said.encode()), options)
    assert (found.name if found else None) == feature


def test_what_was_not_asked_for_is_not_to_blame() -> None:
    said = without_usage(perf_shim.NO_NAME.encode())
    first = PerfOptions().without(named(["named"]))
    second = refused_feature(said, first)
    assert second is not None
    assert second.name == "own-frequency"
    assert refused_feature(said, first.without([second])) is None


def test_the_first_sentence_is_the_one_that_says_something() -> None:
    assert first_sentence(perf_shim.LIMITED) == (
        "Access to performance monitoring and observability operations is limited."
    )
    assert first_sentence(perf_shim.NO_NAME) == "event syntax error: 'cycles/freq=97,name=cycles/'"
    assert first_sentence(" \n\n") == ""


def test_perf_that_may_not_sample_is_one_sentence_with_the_setting(tmp_path: Path) -> None:
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/perf_event_paranoid").write_text("2\n")
    found = forbidden(perf_shim.LIMITED, Host(tmp_path), root=False)
    assert found is not None
    assert found.message == ("perf may not sample all CPUs for an ordinary user (kernel.perf_event_paranoid is 2)")
    assert "run as root" in found.hint


def test_root_that_may_not_sample_is_in_a_container_or_a_lockdown(tmp_path: Path) -> None:
    found = forbidden(perf_shim.LIMITED, Host(tmp_path), root=True)
    assert found is not None
    assert found.message == "perf may not sample the CPUs, though this is root"
    assert all(word in found.hint for word in ("container", "CAP_PERFMON", "lockdown"))
    assert forbidden(perf_shim.INVALID, Host(tmp_path), root=True) is None
