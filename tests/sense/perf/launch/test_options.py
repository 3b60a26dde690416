"""What perf is asked for: plain names, one feature at a time given up, rings that fit."""

from __future__ import annotations

import pytest

from necroscope.sense.perf.launch.options import (
    BY_SAMPLE,
    BY_SIGNAL,
    FEATURES,
    PerfOptions,
    named,
    perf_command,
    ring_pages,
    trial_command,
)


@pytest.mark.parametrize(("cpus", "pages"), [(2, 512), (16, 512), (32, 512), (96, 128), (512, 32), (100_000, 1)])
def test_rings_stay_below_their_limit(cpus: int, pages: int) -> None:
    assert ring_pages(cpus, page_bytes=4096) == pages
    assert pages == 1 or pages * 4096 * cpus <= 64 << 20


@pytest.mark.parametrize(("cpus", "pages"), [(2, 32), (32, 32), (64, 16), (512, 2), (4096, 1)])
def test_rings_of_large_pages_stay_below_it_too(cpus: int, pages: int) -> None:
    """64 KiB a page, as on some arm64 kernels."""
    assert ring_pages(cpus, page_bytes=65536) == pages
    assert pages == 1 or pages * 65536 * cpus <= 64 << 20
    assert ring_pages(cpus, 128 << 10, 65536) == min(2, pages)


def test_the_command_asks_for_one_stream_of_everything() -> None:
    command = " ".join(perf_command(PerfOptions(), 2, ("--control", "fd:5")))
    assert "-g --clockid mono --mmap-pages 512 --all-cgroups --buildid-mmap --all-cpus --control fd:5" in command
    assert "--event cycles/freq=97,name=cycles/ --event cgroup:cgroup_mkdir/call-graph=no/" in command
    assert "-F" not in command.split()
    assert command.endswith("--output -")


def test_every_spelling_of_the_event() -> None:
    def event(*without: str) -> str:
        command = perf_command(PerfOptions().without(named(without)), 2, ())
        return command[command.index("--event") + 1]

    assert event() == "cycles/freq=97,name=cycles/"
    assert event("cycles") == "cpu-clock/freq=97,name=cpu-clock/"
    assert event("named") == "cycles/freq=97/"
    assert event("own-frequency") == "cycles/name=cycles/"
    assert event("named", "own-frequency") == "cycles"
    assert "-F 97" in " ".join(perf_command(PerfOptions().without(named(["own-frequency"])), 2, ()))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("build-ids", "--buildid-mmap"),
        ("cgroups", "--all-cgroups"),
        ("tracepoints", "cgroup:"),
        ("named", "name="),
        ("bare-tracepoints", "call-graph"),
    ],
)
def test_giving_up_one_feature_gives_up_nothing_else(name: str, words: str) -> None:
    whole = " ".join(perf_command(PerfOptions(), 2, ()))
    less = " ".join(perf_command(PerfOptions().without(named([name])), 2, ()))
    assert words in whole
    assert words not in less
    others = {"--buildid-mmap", "--all-cgroups", "cgroup:", "name="} - {words}
    assert all(other in less for other in others)


def test_another_frequency() -> None:
    slow = PerfOptions(frequency_hz=29)
    assert "--event cycles/freq=29,name=cycles/" in " ".join(perf_command(slow, 2, ()))
    assert "-F 29" in " ".join(perf_command(slow.without(named(["own-frequency"])), 2, ()))


def test_small_rings() -> None:
    small = PerfOptions().without(named(["large-rings"]))
    assert "--mmap-pages 32 " in " ".join(perf_command(small, 2, ()))
    assert "--mmap-pages 16 " in " ".join(perf_command(small, 1024, ()))


def test_a_trial_opens_no_cpu_and_ends_by_itself() -> None:
    command = " ".join(trial_command(PerfOptions(), 2, "perf"))
    assert "--all-cpus" not in command
    assert command.endswith("--output - -- true")


def test_what_is_missing_is_recorded_one_by_one_with_its_cost() -> None:
    asked = PerfOptions()
    assert asked.lacking(asked) == []
    assert asked.without(named(["named"])).lacking(asked) == [], "costs nothing"
    cgroups, ids = asked.without(named(["cgroups", "build-ids"])).lacking(asked)[::-1]
    assert cgroups.startswith("samples carry no cgroup")
    assert ids.startswith("mappings carry no build ids")


def test_of_the_ways_to_wake_perf_the_one_that_was_taken_is_reported() -> None:
    asked = PerfOptions()
    signal, sample = asked.without(named(["control"])), asked.without(named(["control", "signal"]))
    assert (signal.wakes, sample.wakes) == (BY_SIGNAL, BY_SAMPLE)
    (by_signal,), (by_sample,) = signal.lacking(asked), sample.lacking(asked)
    assert "a signal wakes it as often instead" in by_signal
    assert "every sample wakes it" in by_sample


def test_names_are_unique_and_unknown_ones_are_none() -> None:
    assert len({one.name for one in FEATURES}) == len(FEATURES)
    assert named(["nothing", "cgroups"]) == [one for one in FEATURES if one.name == "cgroups"]
