"""`necroscope flame` as users see it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from stage.looked import IDLE, LOOP, SYSCALL, TICK, One, batch, look
from stage.program import Program
from stage.recorded import NS, PERIOD_NS, START_NS

SECONDS, AT = 120, 70
WINDOW = ("--event", "nic-reset", "--before", "5s", "--after", "0s")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A steady server; for five seconds before a reset, a reader of files; an idle core with interrupts."""
    folder = tmp_path_factory.mktemp("store")
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    writer.add_signals(START_NS, look(0), "cpu")
    for number in range(SECONDS):
        # Windows have both ends: no sample lies on one.
        at_ns = START_NS + number * NS + 1000
        ones = [One(at_ns + n * NS // 50, LOOP, 1, comm="server") for n in range(50)]
        ones += [One(at_ns + n * NS // 5, IDLE, 0, 0, 0, "swapper/0") for n in range(5)]
        ones += [One(at_ns + n * NS // 5, TICK, 0, 0, 0, "swapper/0") for n in range(5)]
        if AT - 5 <= number < AT:
            ones += [One(at_ns + n * NS // 20, SYSCALL, 0, 300, 300, "reader") for n in range(20)]
        writer.add_samples(batch(ones))
        writer.add_signals(START_NS + (number + 1) * NS, look(number + 1), "cpu")
    writer.add_events([Event(START_NS + AT * NS, "nic-reset", "kmsg", "eth0", "reset")])
    writer.close()
    return folder


@pytest.mark.parametrize("columns", [80, 200])
def test_in_a_terminal(necroscope: Program, store: Path, columns: int) -> None:
    ran = necroscope("flame", "--store", store, *WINDOW, columns=columns)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].startswith("0.77 of 2 cores busy · 375 samples")
    assert max(map(len, lines)) <= columns
    for name in ("server", "spin", "reader"):
        assert name in ran.out
    assert "new" not in ran.out


def test_a_difference_names_what_is_new_first(necroscope: Program, store: Path) -> None:
    ran = necroscope("flame", "--store", store, *WINDOW, "--diff", columns=120)
    assert ran.code == 0
    place = ran.out.splitlines().index("1 change beyond chance, in cores; the largest first")
    assert ran.out.splitlines()[place + 2].split()[:4] == ["+0.206", "0.000", "→", "0.206"]
    assert ran.out.splitlines()[place + 2].endswith("reader › main › read › do_syscall_64 › vfs_read")


def test_json_has_the_layout(necroscope: Program, store: Path) -> None:
    made = necroscope("flame", "--store", store, *WINDOW, "--json").document
    assert (made["schema"], made["samples"], made["baseline_windows"]) == ("necroscope.flame/1", 375, [])
    root = made["boxes"][0]
    assert (root["name"], root["x0"], root["x1"], root["samples"], root["depth"]) == ("all", 0.0, 1.0, 375, 0)
    assert root["before"] is None
    spin = next(box for box in made["boxes"] if box["name"] == "spin")
    assert (spin["module"], spin["samples"]) == ("worker", 250)
    assert spin["x1"] - spin["x0"] == pytest.approx(250 / 375)
    changed = necroscope("flame", "--store", store, *WINDOW, "--diff", "--json").document
    assert {box["name"] for box in changed["boxes"] if box["significant"]} >= {"reader", "vfs_read"}
    (change,) = changed["changes"]
    assert [step["name"] for step in change["path"]] == ["reader", "main", "read", "do_syscall_64", "vfs_read"]
    assert change["change"] == pytest.approx(0.206, abs=0.001)
    assert made["changes"] == []


def test_idle_cores_are_left_out_unless_asked_for(necroscope: Program, store: Path) -> None:
    names = {box["name"] for box in necroscope("flame", "--store", store, *WINDOW, "--json").document["boxes"]}
    assert {"tick_sched_timer", "default_idle"} <= names
    made = necroscope("flame", "--store", store, *WINDOW, "--json", "--idle").document
    assert made["samples"] == 400


def test_files(necroscope: Program, store: Path, tmp_path: Path) -> None:
    for name in ("a.svg", "a.png", "a.folded", "a.txt"):
        ran = necroscope("flame", "--store", store, *WINDOW, "-o", tmp_path / name)
        size = (tmp_path / name).stat().st_size
        assert (ran.code, ran.out, ran.err) == (0, "", f"{tmp_path / name}: {size:,} bytes\n")
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag.endswith("svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    folded = dict(line.rsplit(" ", 1) for line in (tmp_path / "a.folded").read_text().splitlines())
    assert folded["server;main;spin"] == "250"
    assert sum(map(int, folded.values())) == 375
    assert "spin" in (tmp_path / "a.txt").read_text()
    assert necroscope("flame", "--store", store, *WINDOW, "--diff", "-o", tmp_path / "d.svg", "-q").err == ""
    assert "reader" in (tmp_path / "d.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-o", "x.gif"), "x.gif has no ending that"),
        (("--diff", "-o", "x.folded"), "x.folded has no ending that"),
        (("-o", "/nonexistent/x.svg"), "/nonexistent/x.svg cannot be written"),
        (("-o", "/nonexistent/x.folded"), "/nonexistent/x.folded cannot be written"),
    ],
)
def test_bad_outputs_are_a_sentence(necroscope: Program, store: Path, arguments: tuple[str, ...], words: str) -> None:
    ran = necroscope("flame", "--store", store, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert "hint:" in ran.err
    assert "--diff" not in arguments or ".folded" not in ran.err.partition("hint:")[2]


def test_nothing_to_compare_with(necroscope: Program, store: Path) -> None:
    ran = necroscope("flame", "--store", store, "--diff", "--from", START_NS, "--to", START_NS + SECONDS * NS)
    assert ran.code == 3
    assert "nothing to compare the window with" in ran.err


def _script(start_s: float, seconds: float) -> str:
    return "".join(
        f"svc  4711/4720  [{n % 2:03d}] {start_s + n / 97:.6f}:   10309278 cpu-clock:ppp: \n"
        "\tffffffff8127a6d0 work+0x50 ([kernel.kallsyms])\n\n"
        for n in range(round(97 * seconds))
    )


def test_time_that_nobody_profiled_is_no_baseline(necroscope: Program, tmp_path: Path) -> None:
    """Two profiles of 1.5 s, ten minutes apart: the one is compared with the other, and with nothing between them."""
    store, start_s = tmp_path / "s", START_NS // NS
    for name, begin in (("one", 0), ("two", 600)):
        (tmp_path / name).write_text(_script(start_s + begin, 1.5))
    assert necroscope("import", tmp_path / "one", tmp_path / "two", "--store", store).code == 0
    ran = necroscope("flame", "--diff", "--store", store)
    assert (ran.code, ran.out) == (3, "")
    assert "There is nothing to compare the window with." in ran.err
    made = necroscope("top", "--store", store, "--json").document
    assert made["baseline_windows"] == []
    assert made["core_seconds"] == pytest.approx(3.0, abs=0.05)
    window = ("--from", START_NS + 600 * NS, "--to", START_NS + 601 * NS)
    made = necroscope("flame", "--diff", "--store", store, *window, "--json").document
    assert len(made["baseline_windows"]) == 1
    assert not any(box["significant"] for box in made["boxes"])


def test_counters_without_samples_are_no_baseline(necroscope: Program, tmp_path: Path) -> None:
    """Counters of a minute and a profile of one second within it."""
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    for number in range(61):
        writer.add_signals(START_NS + number * NS, look(number), "cpu")
    writer.add_samples(batch([One(START_NS + 30 * NS + n * NS // 50, LOOP, 1) for n in range(50)]))
    writer.close()
    ran = necroscope("flame", "--diff", "--store", tmp_path)
    assert (ran.code, ran.out) == (3, "")
    assert "There is nothing to compare the window with." in ran.err
    window = ("--from", START_NS, "--to", START_NS + 60 * NS - 1)
    made = necroscope("top", "--store", tmp_path, *window, "--json").document
    assert (made["core_seconds_counted"], made["core_seconds"]) == (True, pytest.approx(2.0, abs=0.1))
    assert made["rows"][0]["cores"] == pytest.approx(50 * PERIOD_NS / NS, rel=0.05)
