"""The catalogue: every pattern against its own examples, every ENA format, near misses, hostile lines, and the page."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.sense.log.symptoms import LINE_LIMIT, Pattern, catalogue, load

ROOT = Path(__file__).parents[3]
LOGS = Path(__file__).parents[1] / "logs"
EXAMPLES = [(pattern, example) for pattern in catalogue().patterns for example in pattern.examples]


@pytest.mark.parametrize(("pattern", "example"), EXAMPLES, ids=[example["line"][:70] for _, example in EXAMPLES])
def test_an_example_is_recognised_by_its_own_pattern(pattern: Pattern, example: dict[str, Any]) -> None:
    match = catalogue().match(example["line"])
    assert match is not None
    assert match.pattern.regex == pattern.regex
    assert match.fields == {name: value for name, value in example.items() if name != "line"}


def test_every_pattern_has_an_example_that_holds_its_literal() -> None:
    for pattern in catalogue().patterns:
        assert pattern.examples, pattern.regex
        assert all(pattern.literal in example["line"] for example in pattern.examples), pattern.regex
        assert pattern.after == "device" or not pattern.drivers, "drivers are read from a device's prefix"


def test_every_kind_has_a_line_that_opens_it() -> None:
    opened = {pattern.kind.name for pattern in catalogue().patterns if not pattern.part}
    assert opened == set(catalogue().kinds)


# Printed when the device is set up, not when it is reset.
NO_SYMPTOM = "Failed to alloc reset reason info"


def test_every_ena_format_from_1_1_2_to_2_17_0() -> None:
    lines = [line.split("\t") for line in (LOGS / "ena_formats.tsv").read_text().splitlines()]
    assert len(lines) == 50
    unknown = []
    for versions, line in lines:
        match = catalogue().match(line)
        if match is None:
            unknown.append(line)
            continue
        assert match.pattern.kind.name.startswith("nic-"), (versions, line)
        assert (match.fields["driver"], match.fields["bus"]) == ("ena", "0000:00:05.0")
        # Whatever number the driver calls a queue is read as one.
        assert bool(re.search(r"(?:TX q|qid:?|Queue(?: =)?|ring|CQ|queue) \d", line)) == any(
            "queue" in name for name in match.fields
        ), line
    assert [line.split(": ")[-1] for line in unknown] == [NO_SYMPTOM]


def test_the_line_in_which_ena_exchanges_queue_and_cpu() -> None:
    match = catalogue().match("ena 0000:00:05.0 ens5: [2/2] qid: 39, napi CPU: 4")
    assert match is not None
    assert (match.fields["swapped_cpu"], match.fields["swapped_queue"]) == ("39", "4")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "ena 0000:20:03.0: ENA Large LLQ is disabled",
        "ena 0000:20:03.0 eth0: tx_timeout: 3",  # a counter that ENA prints while it resets
        "ena 0000:20:03.0 eth0: suspected_poll_starvation: 1",
        "ixgbe 0000:20:03.0 eth0: napi handler hasn't been called for a long time but is scheduled",
        "myapp: tx timeout",
        "ixgbe 0000:04:00.0 eth4: NIC Link is Up 10 Gbps",
        "dwmac-sun8i 5020000.ethernet eth0: Reset adapter.",
        "audit: the string BUG: soft lockup - CPU#1 stuck for 22s! [x:1] quoted by somebody",
        "rcu: Hierarchical RCU implementation.",
        "rcu: INFO: Stall ended before state dump start",
        "oom_reaper: reaped process 4711 (python3), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB",
        "clocksource: Switched to clocksource tsc",
        "mce: CPU0: Core temperature/speed normal",
        "EXT4-fs (sda1): mounted filesystem with ordered data mode",
        "nvme nvme0: 8/0/0 default/read/poll queues",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.104.05",
    ],
)
def test_near_misses(line: str) -> None:
    assert catalogue().match(line) is None


def test_a_line_that_names_no_driver_suits_only_patterns_of_one_driver() -> None:
    match = catalogue().match("eth0: napi handler hasn't been called for a long time but is scheduled")
    assert match is not None
    assert match.fields == {"driver": "ena", "device": "eth0", "reason": "poll-starvation"}
    hang = catalogue().match("eth4: Detected Tx Unit Hang")
    assert hang is not None
    assert "driver" not in hang.fields


def test_a_device_on_its_way_out_keeps_its_name() -> None:
    match = catalogue().match("ena 0000:00:05.0 eth0 (unregistering): Trigger reset is on")
    assert match is not None
    assert match.fields["device"] == "eth0"


def test_patterns_are_free_of_nested_repetition() -> None:
    nested = re.compile(r"\((?:\?:|\?P<\w+>)?[^()]*[*+][^()]*\)[*+]")
    assert [pattern.regex for pattern in catalogue().patterns if nested.search(pattern.regex)] == []


@given(st.text(max_size=300))
def test_arbitrary_lines_never_raise(line: str) -> None:
    catalogue().match(line)


@given(st.sampled_from(EXAMPLES), st.integers(0, 300), st.text(max_size=20))
def test_broken_examples_never_raise(chosen: tuple[Pattern, dict[str, Any]], at: int, noise: str) -> None:
    line = chosen[1]["line"]
    catalogue().match(line[:at] + noise + line[at:])
    catalogue().match(line[:at])


def _hostile() -> list[str]:
    """Lines that drive a careless expression into the ground: what a pattern repeats, as often as fits."""
    lines = []
    for pattern, example in EXAMPLES:
        line = example["line"]
        lines += [line[:-1] + line[len(line) // 2 : -1] * 40, (pattern.literal * 200)[:4000], line + "1" * 3000]
    lines += ["oom-kill:constraint=CONSTRAINT_MEMCG," + ",oom_memcg=,task_memcg=,task=" * 100 + ",pid="]
    lines += ["INFO: task " + ":1 blocked" * 300, "a b" * 1000 + ": Tx timeout", "x" * 100_000]
    return lines


def test_five_megabytes_of_hostile_lines_take_seconds() -> None:
    hostile, size, started = _hostile(), 0, time.monotonic()
    worst = 0.0
    while size < 5_000_000:
        for line in hostile:
            before = time.monotonic()
            catalogue().match(line)
            worst = max(worst, time.monotonic() - before)
            size += min(len(line), LINE_LIMIT)
    assert time.monotonic() - started < 10
    assert worst < 0.5


def test_one_entry_is_all_a_new_pattern_needs() -> None:
    text = """
        [kinds.bad-day]
        severity = "info"
        help = "the machine has a bad day"
        [[patterns]]
        kind = "bad-day"
        literal = "bad day"
        regex = 'CPU (?P<cpu>\\d+) has a bad day'
        set = { mood = "low" }
    """
    match = load(text).match("CPU 3 has a bad day")
    assert match is not None
    assert match.pattern.kind.name == "bad-day"
    assert match.fields == {"mood": "low", "cpu": "3"}


def test_a_mistake_in_the_catalogue_is_not_silent() -> None:
    with pytest.raises(KeyError, match="unheard-of"):
        load("kinds = {}\n[[patterns]]\nkind = 'unheard-of'\nliteral = 'x'\nregex = 'x'")
    with pytest.raises(TypeError, match="colour"):
        load("patterns = []\n[kinds.a]\nseverity = 'info'\nhelp = 'x'\ncolour = 'red'")


def test_the_page_lists_every_kind_and_no_other() -> None:
    rows = re.findall(
        r"^\| `([a-z-]+)` \| (\w+) \| ([^|]+) \|", (ROOT / "docs" / "symptoms.md").read_text(), re.MULTILINE
    )
    assert {name: (severity, means.strip()) for name, severity, means in rows} == {
        kind.name: (kind.severity, kind.help) for kind in catalogue().kinds.values()
    }
    assert len(rows) == len(catalogue().kinds)
