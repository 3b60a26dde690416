"""A store with events and samples in two segments and in its journal."""

from __future__ import annotations

from pathlib import Path

from necroscope.clock import NS
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from stage.looked import One, batch
from stage.recorded import START_NS

RESET = Event(START_NS + NS, "nic-reset", "kmsg", "eth0", "eth0: reset")
LATER = Event(START_NS + 5 * NS, "nic-reset", "kmsg", "eth1", "eth1: reset")
MARK = Event(START_NS + 3 * NS, "mark", "mark", "", "deployed")
BORN = Event(START_NS + 2 * NS, "cgroup-mkdir", "perf", "/a", cgroup=7, hierarchy=0)
LIVE = Event(START_NS + 9 * NS, "job-failed", "mark", "", "job 4711")
ALL = (START_NS, START_NS + 60 * NS)


def written(folder: Path) -> Writer:
    """The store, still open."""
    made = Writer(folder, flush_s=1e9, segment_s=1e9)
    made.add_samples(batch([One(START_NS + 10), One(START_NS + 2 * NS)]))
    made.add_events([RESET, BORN])
    made.seal()
    made.add_samples(batch([One(START_NS + 5 * NS), One(START_NS + 4 * NS)]))
    made.add_events([LATER, MARK])
    made.seal()
    made.add_events([LIVE])
    made.add_samples(batch([One(START_NS + 8 * NS)]))
    made.flush()
    return made
