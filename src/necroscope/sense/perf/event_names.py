"""What the name of a perf event says: does a sample stand for time on a core, and is its weight in nanoseconds?

The same event has many spellings. perf stores what it was asked for, kernels and distributions differ in the rest:

    cycles  cpu-cycles  cycles:P  cycles:ppp  cycles/freq=97/  cpu_core/cycles:P/  cpu_atom/cycles/P
    cpu/event=0x3c,name=cycles/  armv8_pmuv3_0/cpu_cycles/  cpu-clock:pppH  task-clock/freq=97/
"""

from __future__ import annotations

import re
from functools import lru_cache

CLOCKS = frozenset({"cpu-clock", "task-clock"})
"""Their weights are nanoseconds."""

CYCLES = frozenset({"cycles", "cpu-cycles", "ref-cycles", "cpu-clk-unhalted", "cpu-clk-unhalted.thread"})
"""Their weights are cycles of a core that does not stand still: an idle core counts none."""

# Units that count what a core does, by architecture; others (uncore, memory) have cycles of their own.
_OF_A_CORE = re.compile(r"cpu|cpu_(core|atom|lowpower)|cpum_cf|armv\w+|apple_\w+_pmu|default_core")


def is_time(event: str) -> bool:
    """Whether an event's samples stand for time on a core. A tracepoint tells that something happened, not for how
    long."""
    return base_name(event) in CLOCKS | CYCLES


def is_clock(event: str) -> bool:
    """Whether the weights of an event's samples are nanoseconds."""
    return base_name(event) in CLOCKS


@lru_cache(maxsize=4096)
def base_name(event: str) -> str:
    """The event itself: without modifiers, terms, and the unit that counts it; in lower case, with dashes."""
    first, slash, rest = event.strip().partition("/")
    name = _plain(first)
    if slash and _OF_A_CORE.fullmatch(first.strip().lower()):
        name = _plain(_of_terms(rest.partition("/")[0])) or name
    return name.removesuffix("-p") if name.startswith("cpu-clk-unhalted.") else name


def _of_terms(terms: str) -> str:
    """The event among the terms of a unit: what it was named, else the term that is no setting."""
    found = ""
    for term in terms.split(","):
        key, equals, value = term.strip().partition("=")
        if key == "name" and equals:
            return value
        if not equals and not found:
            found = key
    return found


def _plain(name: str) -> str:
    return name.partition(":")[0].strip().lower().replace("_", "-")
