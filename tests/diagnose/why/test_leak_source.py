"""Who leaks, by names, counts and time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from necroscope.diagnose.why.leak_source import find_source
from necroscope.diagnose.why.leak_words import grew, growth_of, in_short, pinned, why_it_runs
from necroscope.diagnose.why.ledger_of_leaks import Leaks, read_leaks
from necroscope.diagnose.why.scene import Held, span_of
from necroscope.model import Sample, Subject, ZombieName
from necroscope.sense.containers import Containers
from necroscope.store.reader import Store
from necroscope.store.tables import Event
from necroscope.store.writer import Writer
from stage.incident import Played, at, unit, zombie_incident
from stage.looked import One, batch

ID = "0123456789abcdef" * 4


def _leaks(store: Store, second: float = 70) -> Leaks:
    held = Held(store)
    recorded = span_of(held.snapshot())
    assert recorded is not None
    return read_leaks(held, at(second), recorded, [])


def test_a_unit_by_name_count_and_time(tmp_path: Path) -> None:
    leaks = _leaks(zombie_incident().write(tmp_path))
    assert leaks.facts.zombies.left_total == 7
    found = find_source(leaks, "zombies")
    assert found is not None
    assert (found.subject, found.leaked) == (Subject("unit", "sunny-orchid.service"), 7)
    assert found.alignment is not None
    assert (found.alignment.matched, found.alignment.restarts) == (7, 7)
    assert found.strength > 0.9
    assert found.unit is not None
    assert [one.value for one in why_it_runs(found.unit)] == ["enabled", "always", 9, "exit-code"]
    assert grew(leaks)[0].value == 19_999
    picture = growth_of(leaks, found)
    assert picture is not None
    assert (picture.restarts_of, picture.count[-1]) == ("sunny-orchid.service", 19_999)
    assert sum(times for _, times in picture.restarts) == 7


def test_another_hierarchy_is_no_leak_of_memory(tmp_path: Path) -> None:
    node = zombie_incident()
    node.events = [replace(one, hierarchy=9) for one in node.events]
    assert find_source(_leaks(node.write(tmp_path)), "zombies") is None


def test_a_leak_here_does_not_explain_zombies_over_there(tmp_path: Path) -> None:
    node = zombie_incident()
    node.zombies = [(at_s, "/somewhere/else", number) for at_s, _, number in node.zombies]
    node.zombies += [(at_s, "/system.slice", 12) for at_s, _, _ in node.zombies]
    assert find_source(_leaks(node.write(tmp_path)), "zombies") is None


def test_who_leaks_less_but_left_the_pile_is_to_blame(tmp_path: Path) -> None:
    """Seven of the unit, five of somebody who left ten thousand elsewhere: the unit is the louder one."""
    node = zombie_incident()
    node.zombies = [
        row for at_s, _, _ in node.zombies for row in ((at_s, "/jobs", 10_000), (at_s, "/system.slice", 90))
    ]
    for number in range(5):
        node.leaks(6 + 8 * number, f"/jobs/j{number}", 5000 + number, pid=42)
    writer = Writer(node.write(tmp_path).folder, flush_s=1e9, segment_s=1e9)
    pool = {"pid": 42, "tid": 42, "comm": "pool", "cgroup": "/pool", "event": "cgroup:cgroup_mkdir"}
    made = [One(at(5.95 + 8 * number), **pool) for number in range(5)]  # type: ignore[arg-type]
    writer.add_samples(batch(made))
    writer.close(merge=False)
    found = find_source(_leaks(Store(tmp_path)), "zombies")
    assert found is not None
    assert (found.subject, found.leaked) == (Subject("process", "pool"), 5)
    assert found.evidence[-1].text == "99 % of all zombies are where they were"


@pytest.mark.parametrize(
    ("called", "blamed"),
    [
        ({}, ""),  # all that is known is that they lie beside each other
        ({"sunny-orchid.service": 19_000, "slow-fern.service": 900}, "sunny-orchid.service"),
        ({"sunny-orchid.service": 900, "slow-fern.service": 19_000}, "slow-fern.service"),
        ({"sunny-orchid.service": 10, "gone-moss.service": 19_900}, "gone-moss.service"),
        ({"sunny-orchid.service": 10, "slow-fern.service": 40, "gone-moss.service": 9_000}, ""),
    ],
)
def test_of_two_units_side_by_side_the_one_that_the_zombies_are_called_after(
    tmp_path: Path, called: dict[str, int], blamed: str
) -> None:
    node = zombie_incident()
    for number in range(3):
        node.leaks(6 + 8 * number, "/system.slice/slow-fern.service", 5000 + number)
    node.called = {f"/system.slice/{name}": number for name, number in called.items()}
    found = find_source(_leaks(node.write(tmp_path)), "zombies")
    assert (found.subject.name if found is not None else "") == blamed


def test_two_that_leak_alike_are_nobody(tmp_path: Path) -> None:
    node = zombie_incident()
    for number in range(7):
        node.leaks(6 + 8 * number, "/system.slice/other-oak.service", 5000 + number)
    assert find_source(_leaks(node.write(tmp_path)), "zombies") is None


def _with_makers(folder: Path, paths: list[str], comm: str, cgroup: str, signals: tuple[Sample, ...] = ()) -> Leaks:
    node = Played(1, 60)
    node.usual()
    node.gauges = {"memcg_hierarchy": 4.0}
    for number, path in enumerate(paths):
        node.leaks(10 + number, path, 100 + number, pid=42)
    node.write(folder)
    writer = Writer(folder, flush_s=1e9, segment_s=1e9, signals=Containers.signals)
    ones = [
        One(at(10 + number - 0.05), cpu=0, pid=42, tid=42, comm=comm, cgroup=cgroup, event="cgroup:cgroup_mkdir")
        for number in range(len(paths))
    ]
    writer.add_samples(batch(ones))
    if signals:
        writer.add_signals(at(40), signals, "containers")
    writer.close(merge=False)
    return _leaks(Store(folder), 50)


@pytest.mark.parametrize(
    ("cgroup", "subject"),
    [("/pool", Subject("process", "pool-boss")), ("/system.slice/pool.service", Subject("unit", "pool.service"))],
)
def test_who_made_them_where_no_name_tells(tmp_path: Path, cgroup: str, subject: Subject) -> None:
    found = find_source(_with_makers(tmp_path, [f"/jobs/j{n}" for n in range(8)], "pool-boss", cgroup), "zombies")
    assert found is not None
    assert found.subject == subject


def test_a_container_is_called_as_its_engine_calls_it(tmp_path: Path) -> None:
    signals = (
        Sample("container_restarts", 7.0, ("misty-lake",)),
        Sample("container_known", 1, ("misty-lake", ID[:12])),
    )
    paths = [f"/machine/libpod-{ID}"] * 6
    found = find_source(_with_makers(tmp_path, paths, "runc", "/engine", signals), "zombies")
    assert found is not None
    assert found.subject == Subject("container", "misty-lake")


def test_of_containers_that_restart_alike_the_one_whose_id_it_is(tmp_path: Path) -> None:
    signals = (
        *(Sample("container_restarts", 7.0, (name,)) for name in ("misty-lake", "sunny-hill")),
        Sample("container_known", 1, ("sunny-hill", ID[:12])),
        Sample("container_known", 1, ("misty-lake", "f" * 12)),
    )
    paths = [f"/machine/libpod-{ID}"] * 6
    found = find_source(_with_makers(tmp_path, paths, "runc", "/engine", signals), "zombies")
    assert found is not None
    assert found.subject == Subject("container", "sunny-hill")


def test_names_alone_tell_of_leaks_before_the_recording(tmp_path: Path) -> None:
    node = Played(1, 60)
    node.usual()
    for number in range(9):
        path = "/system.slice/old-fern.service" if number < 7 else f"/other/{number}"
        node.names.append((20, ZombieName(path, path, number, 900.0, 4096, "tmpfs")))
    node.units.append((20, unit("old-fern.service", "/system.slice/old-fern.service", 3)))
    leaks = _leaks(node.write(tmp_path), 50)
    found = find_source(leaks, "zombies")
    assert found is not None
    assert (found.subject, found.leaked) == (Subject("unit", "old-fern.service"), 7)
    assert found.strength < 0.9
    pin = pinned(leaks)
    assert pin is not None
    assert pin.value == "tmpfs"


def test_directories_that_were_never_removed(tmp_path: Path) -> None:
    node = Played(1, 60)
    node.usual()
    node.gauges = {"memcg_hierarchy": 4.0}
    for number in range(30):
        path = f"/system.slice/nest.service/d{number}"
        node.events.append(Event(at(5 + number), "cgroup-mkdir", "perf", path, pid=42, cgroup=number, hierarchy=4))
    found = find_source(_leaks(node.write(tmp_path), 55), "directories")
    assert found is not None
    assert found.subject == Subject("unit", "nest.service")
    assert "never removed" in found.evidence[0].text


def test_nothing_to_go_by(tmp_path: Path) -> None:
    node = Played(1, 30)
    node.usual()
    leaks = _leaks(node.write(tmp_path), 20)
    assert find_source(leaks, "zombies") is None
    assert find_source(leaks, "directories") is None
    assert growth_of(leaks, None) is None


def test_a_container_by_count_where_no_id_tells(tmp_path: Path) -> None:
    node = Played(1, 60)
    node.usual()
    node.gauges = {"memcg_hierarchy": 4.0}
    for number in range(30):
        node.leaks(5 + number, "/pod/nameless", 100 + number)
    for second, name, times in (
        (15, "misty-lake", 12),
        (25, "misty-lake", 10),
        (35, "misty-lake", 6),
        (25, "other", 4),
    ):
        node.events.append(Event(at(second), "container-restart", "containers", name, count=times))
    found = find_source(_leaks(node.write(tmp_path), 50), "zombies")
    assert found is not None
    assert found.subject == Subject("container", "misty-lake")


def test_the_picture_of_growth_where_places_were_looked_at_once(tmp_path: Path) -> None:
    node = zombie_incident()
    node.zombies = node.zombies[:1]
    node.gauges = {}
    writer_looks = [(second, 19_980.0 + second) for second in range(0, 90, 10)]
    store = node.write(tmp_path)
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    for second, value in writer_looks:
        writer.add_signals(at(second), [Sample("memcg_zombies", value)], "memcg")
    writer.close(merge=False)
    picture = growth_of(_leaks(store), None)
    assert picture is not None
    assert picture.at_ns == tuple(at(second) for second in range(10, 90, 10))
    assert (picture.count[0], picture.count[-1]) == (19_990, 20_060)


def test_why_a_unit_runs_at_all(tmp_path: Path) -> None:
    node = zombie_incident()
    more = {"wanted_by": ("multi-user.target",), "required_by": ("a.service",), "triggered_by": ("x.timer",)}
    group = "/system.slice/sunny-orchid.service"
    node.units.append((89, unit("sunny-orchid.service", group, 9, preset="enabled", **more)))
    found = find_source(_leaks(node.write(tmp_path)), "zombies")
    assert found is not None
    assert found.unit is not None
    assert [one.text for one in why_it_runs(found.unit)][1:4] == [
        "wanted by multi-user.target a.service",
        "started by x.timer",
        "its preset is enabled",
    ]
    assert in_short(found.unit) == (
        "sunny-orchid.service is enabled, is started by x.timer, restarts always and never exited successfully"
    )
