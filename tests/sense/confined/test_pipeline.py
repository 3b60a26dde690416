"""Opener and parser as they run: names come, and whoever makes them wait or die is left alone while others go on."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from perf.elf_builder import BUILD_ID, elf

from necroscope.sense.confined import child as child_module
from necroscope.sense.confined.pipeline import OPENER_S, Pipeline
from necroscope.sense.confined.refusal import Refusal
from necroscope.sense.host import Host
from necroscope.sense.perf.format.sideband import MappedFile
from necroscope.sense.perf.symbols.live_names import KnownFile, LiveNames
from stage.hung_fuse import HungFuse

pytestmark = pytest.mark.slow

GLOBAL = 1 << 4 | 2
PLACE = np.array([0x1008], np.uint64)
SPACE = 1
NOBODYS_PID = 1 << 22
"""No process has it: the largest pid is below."""


@pytest.fixture
def names() -> Iterator[LiveNames]:
    found = LiveNames(Host(), wait_s=0.05)
    yield found
    found.close()


@pytest.fixture
def library(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    path = tmp_path / "libone.so"
    path.write_bytes(elf([("the_function", 0x11000, 16, GLOBAL)]))
    return path


def asked(names: LiveNames, file: MappedFile, pid: int, space: int = SPACE, place: np.ndarray = PLACE) -> str | Refusal:
    """The name of a place, asked for as long as it takes."""
    ends = time.monotonic() + 15
    while time.monotonic() < ends:
        names.begin()
        names.want(file, pid, space, place)
        table, _ = names.names(file, pid, space)
        if table is not None and table.find(place)[0] >= 0:
            return table.readable(int(table.find(place)[0]))
        known: KnownFile = names._settled(file, pid, space)
        if known.refusal is not None:
            return known.refusal
        if table is not None and table.find(place)[0] == -1:
            return "nothing"
        time.sleep(0.02)
    return "no answer"


def mapped(path: Path, build_id: str = BUILD_ID.hex()) -> MappedFile:
    return MappedFile(str(path), build_id=build_id)


def status(pid: int, field: str) -> str:
    found = re.search(rf"^{field}:\s*(.*)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return found[1] if found else ""


def pss(pid: int) -> int:
    found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    return int(found[1]) << 10 if found else 0


# -- names -----------------------------------------------------------------------------------------------


def test_a_file_of_a_living_process_is_named(names: LiveNames, library: Path) -> None:
    assert asked(names, mapped(library), os.getpid()) == "the_function"
    assert names.unresolved[Refusal.GONE] == 0


def test_a_file_of_another_build_is_not(names: LiveNames, library: Path) -> None:
    assert asked(names, mapped(library, "11" * 20), os.getpid()) is Refusal.OTHER_BUILD


def _held_by(*pids: int) -> list[str]:
    """The library, where one of these has it open."""
    found = []
    for pid in pids:
        with contextlib.suppress(FileNotFoundError):
            for fd in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    found.append(str(fd.readlink()))
    return [path for path in found if "libone" in path]


def test_a_small_file_can_be_named_when_it_is_gone_and_nobody_holds_it_open(names: LiveNames, library: Path) -> None:
    assert asked(names, mapped(library), os.getpid()) == "the_function"
    library.unlink()
    deadline = time.monotonic() + 5
    while (held := _held_by(os.getpid(), *names.pids.values())) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not held
    assert asked(names, mapped(library), os.getpid(), place=np.array([0x1001], np.uint64)) == "the_function"
    assert asked(names, mapped(library), os.getpid(), place=np.array([0x1700], np.uint64)) == "nothing"


def test_a_file_seen_when_it_was_mapped_can_be_named_later(names: LiveNames, library: Path) -> None:
    names.hold(mapped(library), os.getpid())
    ends = time.monotonic() + 10
    while not any(one.kept for one in names._files.values()) and time.monotonic() < ends:
        names.begin()
        time.sleep(0.02)
    library.unlink()
    names.tenants._of_space[SPACE] = names.tenants.of_process(os.getpid())
    assert asked(names, mapped(library), 1 << 22, SPACE) == "the_function"


@pytest.mark.root
def test_a_process_that_is_gone_does_not_blind_those_that_run_the_same_private_file(
    names: LiveNames, library: Path
) -> None:
    library.parent.chmod(0o700)
    names.tenants._of_space[SPACE] = names.tenants.of_process(os.getpid())
    assert asked(names, mapped(library), NOBODYS_PID) is Refusal.GONE
    assert asked(names, mapped(library), os.getpid()) == "the_function"


@pytest.mark.root
def test_a_process_that_is_gone_takes_no_names_from_others(names: LiveNames, library: Path) -> None:
    library.parent.chmod(0o700)
    names.tenants._of_space[SPACE] = names.tenants.of_process(os.getpid())
    assert asked(names, mapped(library), os.getpid()) == "the_function"
    (known,) = names._files.values()
    known.kept = False  # as of a file whose table is too large to be kept
    names.begin()
    names.want(mapped(library), NOBODYS_PID, SPACE, np.array([0x1700], np.uint64))
    ends = time.monotonic() + 15
    while known.asked and time.monotonic() < ends:
        names.begin()
        time.sleep(0.02)
    assert not known.asked
    table, _ = names.names(mapped(library), os.getpid(), SPACE)
    assert table is not None
    assert table.readable(int(table.find(PLACE)[0])) == "the_function"


def test_a_tenant_does_not_name_the_frames_of_another(names: LiveNames, library: Path) -> None:
    names.tenants._of_space |= {1: 1001, 2: 1002}
    assert asked(names, mapped(library), os.getpid(), 1) == "the_function"
    library.write_bytes(elf([("forged", 0x11000, 16, GLOBAL)]))
    assert asked(names, mapped(library), os.getpid(), 1) == "the_function"
    assert asked(names, mapped(library), os.getpid(), 2) == "forged"


@pytest.mark.parametrize("kind", ["fifo", "folder", "link", "device"])
def test_what_is_no_regular_file_is_refused(names: LiveNames, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "odd"
    {
        "fifo": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "link": lambda: path.symlink_to("/etc/passwd"),
        "device": lambda: None,
    }[kind]()
    file = MappedFile("/dev/null" if kind == "device" else str(path), inode=3)
    assert asked(names, file, os.getpid()) in (Refusal.NOT_REGULAR, Refusal.LINK)


# -- what the children may do ----------------------------------------------------------------------------------


def test_the_parser_has_no_rights_and_little_memory(names: LiveNames, library: Path) -> None:
    asked(names, mapped(library), os.getpid())
    parser = names.pids["parser"]
    assert status(parser, "CapEff") == "0" * 16
    assert (status(parser, "NoNewPrivs"), status(parser, "Seccomp")) == ("1", "2")
    assert (status(parser, "Threads"), pss(parser) < 40 << 20) == ("1", True)
    assert sum(map(pss, names.pids.values())) < 48 << 20
    if os.geteuid() == 0:
        assert set(status(parser, "Uid").split()) == {"65534"}


@pytest.mark.parametrize("child", ["opener", "parser"])
def test_a_child_that_died_is_replaced(names: LiveNames, library: Path, tmp_path: Path, child: str) -> None:
    assert asked(names, mapped(library), os.getpid()) == "the_function"
    os.kill(names.pids[child], signal.SIGKILL)
    other = tmp_path / "libtwo.so"
    other.write_bytes(elf([("other", 0x11000, 16, GLOBAL)], base=0x20000))
    first = asked(names, MappedFile(str(other), inode=other.stat().st_ino), os.getpid())
    assert first in ("nothing", "other", Refusal.OPENER_DIED, Refusal.PARSER_DIED)
    names.tenants._of_space[2] = 4711  # another tenant is not kept waiting
    assert asked(names, mapped(library), os.getpid(), 2) == "the_function"


def test_children_end_with_whoever_made_them() -> None:
    code = (
        "from necroscope.sense.confined.pipeline import Pipeline; import time, os\n"
        "p = Pipeline()\n"
        "while len(p.pids) < 2: time.sleep(0.01)\n"
        "print(*p.pids.values(), flush=True); os.kill(os.getpid(), 9)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    children = [int(one) for one in run.stdout.split()]
    assert len(children) == 2
    ends = time.monotonic() + 5
    while any(Path(f"/proc/{pid}").exists() for pid in children) and time.monotonic() < ends:
        time.sleep(0.02)
    assert [pid for pid in children if Path(f"/proc/{pid}").exists()] == []


def test_closing_is_quick_and_leaves_nothing() -> None:
    pipeline = Pipeline()
    ends = time.monotonic() + 10
    while len(pipeline.pids) < 2 and time.monotonic() < ends:
        time.sleep(0.01)
    children = list(pipeline.pids.values())
    began = time.monotonic()
    pipeline.close()
    assert time.monotonic() - began < 5
    assert [pid for pid in children if Path(f"/proc/{pid}").exists()] == []


# -- hostile maps and files --------------------------------------------------------------------------------------


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[Callable[..., int]]:
    """Processes of a user without rights, each with a /tmp that a command prepares."""
    running: list[subprocess.Popen[bytes]] = []

    def start(prepare: str, over: Path | None = None, uid: int = 4001) -> int:
        folder = tmp_path / f"tmp{len(running)}"
        folder.mkdir(mode=0o777)
        folder.chmod(0o777)
        become = f"exec setpriv --reuid {uid} --regid {uid} --clear-groups sleep 60"
        enter = f"mount --bind {over} /tmp" if over else f"mount --bind {folder} /tmp && cd /tmp"
        script = f"{enter} && {prepare} echo ready; {become}"
        one = subprocess.Popen(["unshare", "--mount", "sh", "-c", script], stdout=subprocess.PIPE)
        running.append(one)
        assert one.stdout is not None
        assert one.stdout.readline() == b"ready\n"
        ends = time.monotonic() + 5
        while status(one.pid, "Uid").split()[0] != str(uid) and time.monotonic() < ends:
            time.sleep(0.01)
        return one.pid

    yield start
    for one in running:
        one.kill()
        one.wait()
        if one.stdout is not None:
            one.stdout.close()


MEMORY = MappedFile("//anon")
JIT_AT = np.array([0x1000], np.uint64)


def jit(names: LiveNames, pid: int) -> str | Refusal:
    names.tenants._of_space.pop(pid, None)
    return asked(names, MEMORY, pid, pid, JIT_AT)


@pytest.mark.root
def test_a_map_of_the_process_itself_is_read(names: LiveNames, sleeper: Callable[..., int]) -> None:
    pid = sleeper("echo 1000 20 made_here > perf-$$.map; chown 4001 perf-$$.map;")
    assert jit(names, pid) == "made_here"


@pytest.mark.root
@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        ("echo 1000 20 secret > s; chmod 600 s; ln -s s perf-$$.map;", {Refusal.LINK}),
        ("echo 1000 20 secret > perf-$$.map; chmod 600 perf-$$.map;", {Refusal.DENIED}),
        ("echo 1000 20 secret > perf-$$.map; chown 4002 perf-$$.map;", {Refusal.OWNER}),
        ("ln -s /dev/ptmx perf-$$.map;", {Refusal.LINK}),
        ("mknod -m 666 perf-$$.map c 5 2;", {Refusal.NOT_REGULAR}),
        ("mkfifo -m 666 perf-$$.map;", {Refusal.NOT_REGULAR}),
        ("mkdir perf-$$.map;", {Refusal.NOT_REGULAR}),
        ("truncate -s 17M perf-$$.map; chown 4001 perf-$$.map;", {Refusal.LIMIT}),
        ("touch secret; chmod 600 secret; touch perf-$$.map; mount --bind secret perf-$$.map;", {Refusal.DENIED}),
    ],
)
def test_what_is_no_map_of_the_process_is_not(
    names: LiveNames, sleeper: Callable[..., int], prepare: str, reason: set[Refusal]
) -> None:
    assert jit(names, sleeper(prepare)) in reason


@pytest.mark.root
def test_a_map_that_unfolds_costs_nothing(names: LiveNames, sleeper: Callable[..., int]) -> None:
    from perf.test_hostile_symbols import unfolding

    name = unfolding(40)
    pid = sleeper(f"echo 1000 20 {name} > perf-$$.map; chown 4001 perf-$$.map;")
    assert jit(names, pid) == name[:512]
    assert pss(names.pids["parser"]) < 40 << 20


@pytest.mark.root
def test_a_large_map_is_read_in_pieces_and_only_what_is_new(names: LiveNames, sleeper: Callable[..., int]) -> None:
    lines = "seq 1 400000 | sed 's/.*/& 1 a_name_of_some_length/' > perf-$$.map; chown 4001 perf-$$.map;"
    pid = sleeper(lines)
    assert jit(names, pid) == "a_name_of_some_length"
    assert pss(names.pids["parser"]) < 70 << 20


@pytest.mark.root
@pytest.mark.parametrize("swallow", [True, False])
def test_a_hung_tmp_holds_up_its_own_tenant_only(
    names: LiveNames, sleeper: Callable[..., int], tmp_path: Path, library: Path, swallow: bool
) -> None:
    folder = tmp_path / "hung"
    folder.mkdir()
    fuse = HungFuse(folder, swallow)
    try:
        pid = sleeper("", folder)
        assert jit(names, pid) is Refusal.OPENER_TIMEOUT
        [incident] = names.incidents()
        assert (incident.pid, incident.reason, incident.seconds) == (pid, Refusal.OPENER_TIMEOUT, 10.0)
        assert names.tenants.text(incident.tenant).startswith("uid 4001 in mount namespace ")
        assert ("left-behind-0" in names.pids) is swallow
        assert asked(names, mapped(library), os.getpid(), 77) == "the_function"
        names.tenants._of_space[78] = incident.tenant
        assert asked(names, mapped(library), os.getpid(), 78) is Refusal.BACK_OFF
        began = time.monotonic()
        names.close()
        assert time.monotonic() - began < 5
    finally:
        fuse.close()


@pytest.mark.root
def test_a_flush_never_waits_long_for_a_hung_file(
    names: LiveNames, sleeper: Callable[..., int], tmp_path: Path
) -> None:
    folder = tmp_path / "hung"
    folder.mkdir()
    fuse = HungFuse(folder)
    try:
        pid = sleeper("", folder)
        waited = []
        for _ in range(20):
            began = time.monotonic()
            names.begin()
            names.want(MEMORY, pid, pid, JIT_AT)
            names.names(MEMORY, pid, pid)
            waited.append(time.monotonic() - began)
        # Twenty flushes that waited for the opener would take twenty times OPENER_S.
        assert sum(waited) < 5 * OPENER_S
    finally:
        names.close()
        fuse.close()


def bomb(tmp_path: Path, kind: str) -> Path:
    """A file that costs as much as it can."""
    path = tmp_path / f"{kind}.so"
    if kind == "symbols":
        count = 1_000_000
        table = np.zeros(
            count, np.dtype([("n", "<u4"), ("i", "u1"), ("o", "u1"), ("s", "<u2"), ("v", "<u8"), ("z", "<u8")])
        )
        table["n"], table["i"], table["s"] = 1, GLOBAL, 1
        table["v"] = 0x1000 + np.arange(count)[::-1]
        body = table.tobytes()
        names_at, segments_at = 0x1000 + len(body), 64
        sections_at = names_at + 16
        head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQ", 3, 62, 1, 0, segments_at, sections_at)
        head += struct.pack("<IHHHHHH", 0, 64, 56, 1, 64, 3, 0)
        segment = struct.pack("<IIQQQQQQ", 1, 5, 0x1000, 0x1000, 0, 1 << 30, 1 << 30, 0x1000)
        sections = b"".join(
            struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, at, size, 2, 0, 8, 24)
            for kind, at, size in ((0, 0, 0), (2, 0x1000, len(body)), (3, names_at, 16))
        )
        path.write_bytes((head + segment).ljust(0x1000, b"\0") + body + b"\0name\0".ljust(16, b"\0") + sections)
    else:
        from perf.test_hostile_symbols import many_sections

        path.write_bytes(many_sections(4096, 1, 0, 0, 1 << 20))
    return path


@pytest.mark.parametrize("kind", ["symbols", "sections"])
def test_a_file_that_costs_much_costs_little(names: LiveNames, library: Path, tmp_path: Path, kind: str) -> None:
    tmp_path.chmod(0o755)
    path = bomb(tmp_path, kind)
    file = MappedFile(str(path), inode=path.stat().st_ino)
    assert asked(names, file, os.getpid()) in ("name", "nothing", Refusal.LIMIT, Refusal.BROKEN)
    peak = int(status(names.pids["parser"], "VmHWM").split()[0]) << 10
    assert peak < 110 << 20
    assert asked(names, mapped(library), os.getpid(), 77) == "the_function"


def test_no_more_children_are_started_than_a_few_a_minute(monkeypatch: pytest.MonkeyPatch, library: Path) -> None:
    started: list[str] = []
    original = child_module._spawn

    def spawn(module: str, sockets: list) -> int:  # type: ignore[type-arg]
        started.append(module)
        return original("nothing_of_that_name" if module == "opener" else module, sockets)

    monkeypatch.setattr(child_module, "_spawn", spawn)
    found = LiveNames(Host(), wait_s=0.05)
    try:
        ends = time.monotonic() + 4
        while time.monotonic() < ends:
            found.tenants._of_space.clear()
            assert asked(found, mapped(library), os.getpid(), len(started)) is Refusal.NO_CHILD
            found._files.clear()
        assert len(started) <= 9
    finally:
        found.close()
