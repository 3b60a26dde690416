"""Who the pids that made cgroups are, by the samples that their making left."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from necroscope.clock import NS
from necroscope.query.cgroup_lifetimes import Life
from necroscope.query.coverage import joined
from necroscope.query.samples.chunks import chunks
from necroscope.query.select import Select
from necroscope.store.read.reader import Store
from necroscope.vocabulary.leak_facts import Maker

_MKDIR = frozenset({"cgroup:cgroup_mkdir", "cgroup:cgroup_rmdir"})
_WINDOWS = 24
_NEAR_NS = NS // 10


def makers_of(store: Store, lives: Iterable[Life]) -> tuple[Maker, ...]:
    """The makers, as far as a few windows show them: of many that took turns, some are enough to know them all."""
    made: dict[int, int] = {}
    for life in lives:
        if life.maker is not None and life.made_ns is not None:
            made.setdefault(life.maker, life.made_ns)
    if not made:
        return ()
    pids = sorted(made, key=lambda pid: made[pid])
    picked = {pids[place * (len(pids) - 1) // (_WINDOWS - 1)] for place in range(_WINDOWS)}
    windows = joined(((made[pid] - _NEAR_NS, made[pid] + _NEAR_NS) for pid in picked), gap_ns=0)
    first, *others = windows
    snapshot = store.snapshot((windows[0][0], windows[-1][1]))
    found: dict[int, Maker] = {}
    for chunk in chunks(snapshot, Select(first, events=_MKDIR), others=others, notes=[]):
        for row in np.unique(chunk.pid, return_index=True)[1].tolist():
            pid = int(chunk.pid[row])
            name, cgroup = chunk.comm.names[chunk.comm.codes[row]], chunk.cgroup.names[chunk.cgroup.codes[row]]
            found[pid] = Maker(pid, name, cgroup)
    return tuple(found.values())
