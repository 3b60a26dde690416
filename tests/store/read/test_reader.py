"""Readers see every row once, without a lock, while a writer seals, merges and removes under their hands."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from necroscope import clock
from necroscope.errors import BadInput, Unavailable
from necroscope.sense import environment as surroundings
from necroscope.store import place
from necroscope.store.bundle.archive import Entry, pack
from necroscope.store.format.segment import read_table
from necroscope.store.read.catalog import journals
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from stage.recorded import second

WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from necroscope import clock
from necroscope.store.write import housekeeping
from necroscope.store.write.writer import Writer
from stage.recorded import second
housekeeping.GRACE_S = 0.3
writer = Writer(Path(sys.argv[1]), flush_s=1e9)
number = 0
while True:
    writer.add_samples(second(number, samples=5))
    writer.flush()
    if number % 3 == 2:
        writer.seal()
    print(number, flush=True)
    number += 1
"""


def samples(store: Store) -> Counter[int]:
    """Times of all samples; a segment that vanished in between is looked for again."""
    while True:
        snapshot = store.snapshot()
        parts = [read_table(one, "samples", ["at_ns"]) for one in snapshot.segments]
        if all(part is not None for part in parts):
            break
    live = snapshot.live.get("samples")
    columns = [part["at_ns"] for part in parts if part is not None] + ([live["at_ns"]] if live is not None else [])
    return Counter(at_ns for column in columns for at_ns in column.to_pylist())


def test_nothing_is_missing_and_nothing_is_there_twice_while_it_is_written(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, tmp_path, Path(__file__).parents[2]]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        store, looks = None, 0
        until = time.monotonic() + 3
        while time.monotonic() < until:
            number = int(child.stdout.readline())
            store = store or Store(tmp_path)
            if number % 5 == 0:
                seen = samples(store)
                expected = {at_ns for one in range(number + 1) for at_ns in second(one, samples=5).at_ns.tolist()}
                assert expected <= seen.keys()
                assert set(seen.values()) == {1}
                looks += 1
        assert looks > 5
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()


def test_an_event_is_readable_by_another_process_within_two_seconds(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    started = clock.elapsed_s()
    writer.add_samples(second(0))
    while not samples(Store(tmp_path)):
        writer.add_samples(second(1, samples=1))
        clock.sleep(0.02)
    assert clock.elapsed_s() - started < 2
    writer.close()


def test_a_window_leaves_out_segments_of_other_times(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9)
    for number in (0, 1000, 2000):
        writer.add_samples(second(number))
        writer.seal()
    writer.add_samples(second(3000))
    writer.flush()
    whole = Store(tmp_path).snapshot()
    at_ns = int(second(1000).at_ns[3])
    part = Store(tmp_path).snapshot((at_ns, at_ns))
    assert [one.first for one in whole.segments] == [1, 2, 3]
    assert [one.first for one in part.segments] == [2]
    assert part.holding("samples") == [part.segments[0]]
    assert part.holding("zombies") == []
    assert part.live["samples"].num_rows == 20
    writer.close()


def test_damage_is_noted_and_the_rest_is_read(tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9)
    writer.add_samples(second(0))
    writer.flush()
    path = next(iter(journals(tmp_path).values()))
    with path.open("ab") as file:
        file.write(b"torn")
    snapshot = Store(tmp_path).snapshot()
    assert snapshot.live["samples"].num_rows == 20
    (note,) = snapshot.notes
    assert note.startswith("journal 1: the frame at byte ")
    assert note.endswith(" is not whole")
    writer.close()


def test_what_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is no store"):
        Store(tmp_path)
    with pytest.raises(BadInput, match="is no store"):
        Store(tmp_path / "absent")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(Unavailable, match="cannot be read"):
        Store(tmp_path / "loop")


@pytest.mark.parametrize(
    "data",
    [b"", b"text", gzip.compress(b"text"), gzip.compress(b"text" * 999)[:20]],
    ids=["empty", "text", "compressed", "cut"],
)
def test_a_file_is_no_store(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    for path in (file, file / "below"):
        with pytest.raises(BadInput, match="is no store: it is no folder") as refused:
            Store(path)
        assert "a folder that" in refused.value.hint


def test_of_a_bundle_the_right_option_is_said(tmp_path: Path) -> None:
    file = tmp_path / "node7.ncb"
    pack([Entry("/proc/version", b"Linux")], file)
    with pytest.raises(BadInput, match="is a bundle, no store") as refused:
        Store(file)
    assert refused.value.hint == f"read it with `--bundle {file}`"


def test_where_stores_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "privileged", lambda: False)
    system, own = tmp_path / "system", tmp_path / "state" / "necroscope"
    environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    with pytest.raises(BadInput, match="There is no store in"):
        place.to_read(None, environment, system)
    Writer(own).close()
    assert place.to_read(None, environment, system) == own
    Writer(system).close()
    assert place.to_read(None, environment, system) == system
    assert place.to_read(tmp_path, environment, system) == tmp_path
    elsewhere = {**environment, "NECROSCOPE_STORE": str(tmp_path / "other")}
    with pytest.raises(BadInput, match=r"There is no store in .*other"):
        place.to_read(None, elsewhere, system)
    (tmp_path / "other").write_bytes(b"a bundle, perhaps")
    assert place.to_read(None, elsewhere, system) == tmp_path / "other"  # whoever reads it says what it is
    assert place.to_write(None, elsewhere, system) == tmp_path / "other"
    assert place.to_write(None, environment, system) == (system if os.geteuid() == 0 else own)
    home = {"HOME": str(tmp_path)}
    assert place.to_write(None, home, system) in (system, tmp_path / ".local" / "state" / "necroscope")


def test_with_privileges_no_store_is_read_where_the_environment_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "privileged", lambda: True)
    monkeypatch.setattr(surroundings.pwd, "getpwuid", lambda uid: SimpleNamespace(pw_dir=str(tmp_path / "root")))
    Writer(tmp_path / "eve" / "necroscope").close()
    Writer(tmp_path / "eve" / ".local" / "state" / "necroscope").close()
    environment = {"XDG_STATE_HOME": str(tmp_path / "eve"), "HOME": str(tmp_path / "eve")}
    own = tmp_path / "root" / ".local" / "state" / "necroscope"
    with pytest.raises(BadInput, match=f"There is no store in .* or {own}"):
        place.to_read(None, environment, tmp_path / "system")
    Writer(own).close()
    assert place.to_read(None, environment, tmp_path / "system") == own
