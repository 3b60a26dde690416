"""`necroscope top` as users see it, and what it has in common with `flame` and `heatmap`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from necroscope.clock import NS
from necroscope.store.read.catalog import segments
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from stage.looked import IDLE, LOOP, SYSCALL, One, batch, look, record, second
from stage.program import Program
from stage.recorded import START_NS

SECONDS, AT = 200, 150
FAILED = Event(START_NS + AT * NS, "job-failed", "mark", "", "job 4711")
AROUND = ("--event", "job-failed", "--before", "5s", "--after", "0s")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two cores, a server that is steady, and for five seconds before a mark an agent that nobody saw before."""
    folder = tmp_path_factory.mktemp("store")
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    writer.add_signals(START_NS, look(0), "cpu")
    for number in range(SECONDS):
        # Windows have both ends: no sample lies on one.
        at_ns = START_NS + number * NS + 1000
        ones = [One(at_ns + n * NS // 40, LOOP, 1, 100, 100, "server", "/srv") for n in range(40)]
        ones += [One(at_ns + n * NS // 10, IDLE, 0, 0, 0, "swapper/0", "/") for n in range(10)]
        if AT - 5 <= number < AT:
            ones += [One(at_ns + n * NS // 20, SYSCALL, 0, 300, 300, "agent", "/agent") for n in range(20)]
        writer.add_samples(batch(ones))
        writer.add_signals(START_NS + (number + 1) * NS, look(number + 1), "cpu")
        if number in (60, 120):
            writer.seal()
    writer.add_events([FAILED])
    writer.flush()
    yield folder
    writer.close()


def test_what_is_unusual_comes_first(necroscope: Program, store: Path) -> None:
    ran = necroscope("top", "--store", store, *AROUND, columns=100)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].endswith("(5.0 s, around job-failed)")
    assert lines[1].startswith("0.62 of 2 cores busy; against ")
    assert lines[2].split() == ["process", "pid", "cores", "of", "all", "before", "change", "chance", "samples"]
    assert lines[3].split()[:7] == ["agent", "300", "0.21", "10.3", "%", "0.000", "new"]
    assert lines[4].split() == ["server", "100", "0.41", "20.6", "%", "0.41", "0.000", "chance", "200"]
    assert len(lines) == 5


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("by", ["process", "thread", "function", "self", "cgroup", "module"])
def test_every_kind_of_row_fits(necroscope: Program, store: Path, by: str, columns: int) -> None:
    ran = necroscope("top", "--store", store, "--by", by, *AROUND, columns=columns)
    assert ran.code == 0
    assert max(map(len, ran.out.splitlines()[2:])) <= columns
    expected = {"function": "do_syscall_64", "self": "vfs_read", "cgroup": "/agent", "module": "[kernel]"}
    assert ran.out.splitlines()[3].split()[0] == expected.get(by, "agent")


def test_without_a_baseline_rows_go_by_size(necroscope: Program, store: Path) -> None:
    ran = necroscope("top", "--store", store, *AROUND, "--against", "none", "-n", "1")
    assert "against" not in ran.out
    assert ran.out.splitlines()[3].split() == ["server", "100", "0.41", "20.6", "%", "200"]
    assert ran.out.splitlines()[4] == "and 1 more (-n)"


def test_json(necroscope: Program, store: Path) -> None:
    made = necroscope("top", "--store", store, *AROUND, "--json").document
    assert made["schema"] == "necroscope.top/1"
    assert made["window"] == ["2026-01-02T03:06:30.000Z", "2026-01-02T03:06:35.000Z"]
    assert (made["cores"], made["core_seconds"], made["core_seconds_counted"]) == (
        2,
        pytest.approx(10, abs=0.001),
        True,
    )
    assert (made["samples"], made["event"], made["by"]) == (300, "cpu-clock", "process")
    assert len(made["baseline_windows"]) == 23  # 85 s before what led to the mark, 30 s after it
    agent, server = made["rows"]
    assert (agent["name"], agent["detail"], agent["samples"], agent["new"]) == ("agent", "300", 100, True)
    assert (agent["before"], agent["lift"], agent["significant"]) == (0.0, None, True)
    assert agent["cores"] == pytest.approx(0.206, abs=0.001)
    assert agent["chance"] < 1e-6
    assert (server["significant"], server["lift"]) == (False, pytest.approx(1.0, rel=1e-3))


def test_filters(necroscope: Program, store: Path) -> None:
    for option, value in (("--process", "agent"), ("--process", "300"), ("--thread", "300"), ("--cgroup", "/agent")):
        made = necroscope("top", "--store", store, *AROUND, option, value, "--json").document
        assert [row["name"] for row in made["rows"]] == ["agent"]
        assert made["core_seconds"] == pytest.approx(10, abs=0.001)
    made = necroscope("top", "--store", store, *AROUND, "--cpu", "1", "--json").document
    assert ([row["name"] for row in made["rows"]], made["cores"]) == (["server"], 1)


def test_quiet_prints_nothing(necroscope: Program, store: Path) -> None:
    ran = necroscope("top", "--store", store, "-q")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


@pytest.mark.parametrize("verb", ["top", "flame", "heatmap", "heatmap --sub-second"])
@pytest.mark.parametrize(
    ("window", "code", "hint"),
    [
        (("--cpu", "99"), 2, "hint: the cores that were seen there are 0-1"),
        (("--from", "2020-01-01", "--to", "2020-01-02"), 3, "hint: "),
        (("--from", "2030-01-01"), 3, "hint: "),
    ],
)
def test_a_window_with_nothing_in_it_is_a_sentence(
    necroscope: Program, store: Path, verb: str, window: tuple[str, ...], code: int, hint: str
) -> None:
    ran = necroscope(*verb.split(), "--store", store, *window)
    assert (ran.code, ran.out) == (code, "")
    assert len(ran.err.splitlines()) == 2
    assert hint in ran.err
    expected = "The counters of the cores were not read" if verb == "heatmap" else "There are no samples"
    assert expected in ran.err


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        (("--process", "agnet"), "processes with most samples there: server, agent"),
        (("--process", "7"), "processes with most samples there: 100, 300"),
        (("--thread", "7"), "threads with most samples there: 100, 300"),
        (("--cgroup", "/agnet"), "cgroups with most samples there: /srv, /agent"),
        (("--event-type", "cycles"), "add --event-type cpu-clock"),
        (("--cpu", "1", "--process", "agent"), "options may have left out what is there"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(
    necroscope: Program, store: Path, option: tuple[str, ...], hint: str
) -> None:
    ran = necroscope("top", "--store", store, *AROUND, *option)
    assert ran.code == 2
    assert hint in ran.err


def test_a_baseline_that_cannot_be_had_is_said(necroscope: Program, tmp_path: Path) -> None:
    record(tmp_path, 9, sealed=(2, 8)).close()
    lines = necroscope("top", "--store", tmp_path, columns=200).out.splitlines()
    assert lines[2].startswith("not compared: no time as long as this was recorded within an hour")
    assert "no time as long" in necroscope("top", "--store", tmp_path, "--json").document["not_compared"]
    assert "not compared" not in necroscope("top", "--store", tmp_path, "--against", "none").out
    short = ("--from", START_NS + 4 * NS, "--to", START_NS + 5 * NS - 1)
    assert "not compared" not in necroscope("top", "--store", tmp_path, *short).out


@pytest.mark.parametrize("verb", ["top", "flame", "heatmap"])
def test_an_empty_store_is_a_sentence(necroscope: Program, tmp_path: Path, verb: str) -> None:
    Writer(tmp_path).close()
    ran = necroscope(verb, "--store", tmp_path)
    assert (ran.code, ran.out) == (3, "")
    assert f"Nothing of what was to be written to {tmp_path} is there." in ran.err


@pytest.mark.parametrize("verb", ["top", "flame", "heatmap --sub-second"])
def test_damage_is_told_and_the_rest_shown(necroscope: Program, tmp_path: Path, verb: str) -> None:
    record(tmp_path, 9, sealed=(2, 8)).close(merge=False)
    for damaged in segments(tmp_path)[0].path.iterdir():
        damaged.write_bytes(b"PAR1")
    ran = necroscope(*verb.split(), "--store", tmp_path, "--from", START_NS, "--to", START_NS + 9 * NS)
    assert ran.code == 0
    assert ran.out
    assert ran.err
    assert all(line.endswith(".parquet is damaged and left out") for line in ran.err.splitlines())


def test_an_imported_profile_says_what_its_shares_are_of(necroscope: Program, tmp_path: Path) -> None:
    record(tmp_path, 3, sealed=(2,), looked=False).close()
    ran = necroscope("top", "--store", tmp_path, columns=200)
    assert "of 2 cores busy; no core counters, so shares are of the cores that were seen" in ran.out
    assert not necroscope("top", "--store", tmp_path, "--json").document["core_seconds_counted"]


def test_hostile_names_are_shown_harmlessly(necroscope: Program, tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    evil = (("\x1b[31m[bold]x\n", "lib\x07"),)
    writer.add_samples(batch([One(one.at_ns, evil, comm="\x1b]0;t\x07[red]") for one in second(0)]))
    writer.close()
    for verb in ("top", "top --by function", "flame", "flame --json", "heatmap --sub-second"):
        ran = necroscope(*verb.split(), "--store", tmp_path)
        assert ran.code == 0, ran.err
        assert "\x1b" not in ran.out
        assert "\x07" not in ran.out


def test_folded_stacks_are_shares_of_their_counts(necroscope: Program, tmp_path: Path) -> None:
    (tmp_path / "a.folded").write_text("a;b 30\na;c_[k] 70\nd;e 5\n")
    told = necroscope("import", tmp_path / "a.folded", "--store", tmp_path / "s", "--at", "2026-01-02").out
    assert "folded, 3 stacks" in told
    for chosen in ((), ("--event-type", "folded")):
        ran = necroscope("top", "--store", tmp_path / "s", "--by", "self", *chosen, columns=200)
        assert ran.code == 0
        lines = ran.out.splitlines()
        assert lines[1] == "105 samples in folded stacks, which tell no time: shares are of these"
        assert [line.split() for line in lines[2:]] == [
            ["self", "module", "share", "samples"],
            ["c", "[kernel]", "66.7", "%", "70"],
            ["b", "[unknown]", "28.6", "%", "30"],
            ["e", "[unknown]", "4.8", "%", "5"],
        ]
    assert necroscope("top", "--store", tmp_path / "s").out.splitlines()[3].split() == [
        "[unknown]",
        "100.0",
        "%",
        "105",
    ]
    boxes = necroscope("flame", "--store", tmp_path / "s", "--json").document["boxes"]
    assert {box["name"]: (box["samples"], round(box["cores"], 3)) for box in boxes if box["name"] in ("a", "e")} == {
        "a": (100, 0.952),
        "e": (5, 0.048),
    }
    ran = necroscope("flame", "--store", tmp_path / "s", "--diff")
    assert (ran.code, ran.out) == (2, "")
    assert "folded stacks tell no time" in ran.err
    ran = necroscope("top", "--store", tmp_path / "s", "--event-type", "cycles")
    assert "add --event-type folded" in ran.err


def _with_a_hole(folder: Path) -> Path:
    """Steady work for 20 s, twice, with a minute between them in which nobody looked."""
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    for begin in (0, 80):
        writer.add_signals(START_NS + begin * NS, look(begin), "cpu")
        for number in range(begin, begin + 20):
            at_ns = START_NS + number * NS + 1000
            writer.add_samples(batch([One(at_ns + n * NS // 40, LOOP, 1) for n in range(40)]))
            writer.add_signals(at_ns + NS - 1000, look(number + 1), "cpu")
    writer.close()
    return folder


def test_no_baseline_lies_where_nobody_recorded(necroscope: Program, tmp_path: Path) -> None:
    """In one segment, whose name and statistics do not tell of the hole."""
    store = _with_a_hole(tmp_path)
    assert len(segments(store)) == 1
    window = ("--from", START_NS + 90 * NS, "--to", START_NS + 92 * NS - 1)
    made = necroscope("top", "--store", store, *window, "--json").document
    # Nearly twenty seconds before the hole; after it eight and six, without two on each side of the window.
    assert len(made["baseline_windows"]) == 9 + 3 + 2
    (worker,) = made["rows"]
    assert worker["before"] == pytest.approx(worker["cores"], rel=0.01)
    assert not worker["significant"]


@pytest.mark.parametrize("table", ["samples", "stacks"])
@pytest.mark.parametrize("verb", ["top", "flame"])
def test_samples_that_cannot_be_read_are_not_called_missing(
    necroscope: Program, tmp_path: Path, verb: str, table: str
) -> None:
    record(tmp_path, 3, sealed=()).close()
    segments(tmp_path)[0].file(table).write_bytes(b"PAR1")
    ran = necroscope(verb, "--store", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "cannot be read" in ran.err
    assert f"{table}.parquet is damaged" in ran.err
    assert "record first" not in ran.err
