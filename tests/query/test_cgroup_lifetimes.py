"""Lives of cgroups from events."""

from __future__ import annotations

from pathlib import Path

from necroscope.clock import NS
from necroscope.query.cgroup_lifetimes import RELEASE_NS, lives, lives_of
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event, event_of
from stage.recorded import START_NS


def _event(second: int, kind: str, cgroup: int, path: str = "/a", pid: int = 7) -> dict[str, object]:
    fields = {"hierarchy": 4, "cgroup": cgroup, "pid": pid}
    return {"at_ns": START_NS + second * NS, "kind": f"cgroup-{kind}", "subject": path, **fields}


def test_removed_and_not_released_is_leaked_after_some_patience() -> None:
    leaked, fine = lives(
        [
            _event(0, "mkdir", 1),
            _event(1, "rmdir", 1, pid=9),
            _event(2, "mkdir", 2, "/b"),
            _event(3, "rmdir", 2),
            _event(4, "release", 2),
        ]
    )
    assert (leaked.path, leaked.maker, leaked.remover, leaked.released_ns) == ("/a", 7, 9, None)
    assert leaked.leaked(START_NS + NS + RELEASE_NS)
    assert not leaked.leaked(START_NS + NS + RELEASE_NS - 1)
    assert not fine.leaked(START_NS + 1000 * NS)


def test_an_id_that_is_used_again_begins_another_life() -> None:
    first, second = lives(
        [_event(0, "mkdir", 1), _event(1, "rmdir", 1), _event(2, "mkdir", 1, "/b"), _event(3, "release", 1)]
    )
    assert (first.path, first.released_ns) == ("/a", None)
    assert (second.path, second.removed_ns, second.released_ns) == ("/b", None, START_NS + 3 * NS)


def test_events_that_name_no_cgroup_are_passed_over() -> None:
    assert lives([{**_event(0, "mkdir", 1), "cgroup": None}]) == []


def test_from_a_store(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    rows = [_event(0, "mkdir", 1), _event(1, "rmdir", 1)]
    writer.add_events([event_of({**row, "source": "perf"}) for row in rows])
    writer.add_events([Event(START_NS, "nic-reset", "kmsg", "eth0", "hierarchy 4, cgroup 8", cgroup=8, hierarchy=4)])
    writer.close(merge=False)
    (life,) = lives_of(Store(tmp_path).snapshot(), (START_NS, START_NS + 9 * NS))
    assert (life.hierarchy, life.cgroup, life.made_ns, life.removed_ns) == (4, 1, START_NS, START_NS + NS)
