"""`necroscope heatmap` as users see it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from stage.looked import LOOP, One, batch
from stage.program import Program
from stage.recorded import NS, PERIOD_NS, START_NS, Sample

SECONDS, CORES, HOT = 40, 24, 17
WINDOW = ("--from", START_NS, "--to", START_NS + SECONDS * NS - 1)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 cores at 10 %; one is full in the kernel from 20 s to 25 s, with a sample at 100 ms of every second."""
    folder = tmp_path_factory.mktemp("store")
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    system = [0.0] * CORES
    for number in range(SECONDS + 1):
        at_ns = START_NS + number * NS
        writer.add_signals(
            at_ns,
            [
                Sample("cpu_time_seconds", round(value, 3), (str(cpu), mode))
                for cpu in range(CORES)
                for mode, value in (("system", system[cpu]), ("idle", number - system[cpu]))
            ],
            "cpu",
        )
        for cpu in range(CORES):
            system[cpu] += 1.0 if cpu == HOT and 20 <= number < 25 else 0.1
        writer.add_samples(batch([One(at_ns + NS // 10, LOOP, HOT), One(at_ns + 1, LOOP, 3, 200, 200)]))
    writer.add_events([Event(START_NS + 26 * NS, "nic-reset", "kmsg", "eth0", "TX timeout")])
    writer.close()
    return folder


@pytest.mark.parametrize("columns", [80, 200])
def test_one_full_core_is_seen(necroscope: Program, store: Path, columns: int) -> None:
    ran = necroscope("heatmap", "--store", store, *WINDOW, columns=columns)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert max(map(len, lines)) <= columns
    (hot,) = [line for line in lines if line.startswith(f"cpu {HOT} ")]
    assert "█" in hot
    assert hot.endswith("100 %")
    assert sum("█" in line and line.startswith("cpu") for line in lines) == 1
    assert any("nic-reset  eth0 TX timeout" in line for line in lines)
    assert lines[lines.index("Hottest rows") + 1].split()[:2] == ["cpu", str(HOT)]


def test_json_has_the_grid(necroscope: Program, store: Path) -> None:
    made = necroscope("heatmap", "--store", store, *WINDOW, "--json").document
    assert (made["schema"], made["column_s"], made["unit"]) == ("necroscope.heatmap/1", 1.0, "share of the core, busy")
    assert made["from"] == "2026-01-02T03:04:05.000Z"
    assert [row["name"] for row in made["rows"]] == [f"cpu {cpu}" for cpu in range(CORES)]
    hot = made["rows"][HOT]["values"]
    assert (len(hot), hot[19:26]) == (SECONDS, [0.1, 1.0, 1.0, 1.0, 1.0, 1.0, 0.1])
    (mark,) = made["marks"]
    assert (mark["column"], mark["kind"], mark["text"]) == (26.0, "nic-reset", "eth0 TX timeout")
    assert mark["event"].isdigit()
    assert made["hottest"][0] | {"mean": 0} == {
        "row": f"cpu {HOT}",
        "mean": 0,
        "most": 1.0,
        "at": "2026-01-02T03:04:25.000Z",
    }
    assert len(made["hottest"]) == 5


@pytest.mark.parametrize(("look", "expected"), [("system", 1.0), ("idle", 0.9), ("user", 0.0), ("irq", 0.0)])
def test_what_is_shown_can_be_chosen(necroscope: Program, store: Path, look: str, expected: float) -> None:
    made = necroscope("heatmap", "--store", store, *WINDOW, "--json", "--of", look, "--cpu", HOT).document
    assert [row["name"] for row in made["rows"]] == [f"cpu {HOT}"]
    assert max(made["rows"][0]["values"]) == pytest.approx(expected)


def test_sub_second_offsets_are_shares_of_all_cores(necroscope: Program, store: Path) -> None:
    made = necroscope("heatmap", "--store", store, *WINDOW, "--sub-second", "--json").document
    rows = {row["name"]: row["values"] for row in made["rows"]}
    a_sample = round(PERIOD_NS / (NS / 50) / CORES, 4)
    assert rows["100 ms"] == [a_sample] * SECONDS
    assert rows["0 ms"] == [a_sample] * SECONDS
    assert rows["120 ms"] == [0.0] * SECONDS
    chosen = necroscope("heatmap", "--store", store, *WINDOW, "--sub-second", "--json", "--process", "200").document
    assert {row["name"] for row in chosen["rows"] if any(row["values"])} == {"0 ms"}


def test_files(necroscope: Program, store: Path, tmp_path: Path) -> None:
    for name in ("a.svg", "a.png"):
        for more in ((), ("--sub-second",)):
            ran = necroscope("heatmap", "--store", store, *WINDOW, *more, "-o", tmp_path / name)
            assert (ran.code, ran.out) == (0, "")
            assert ran.err == f"{tmp_path / name}: {(tmp_path / name).stat().st_size:,} bytes\n"
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag.endswith("svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-o", "x.gif"), "x.gif has no ending that"),
        (("-o", "/nonexistent/x.svg"), "/nonexistent/x.svg cannot be written"),
        (("--process", "worker"), "does not tell who it worked for"),
        (("--cgroup", "/a"), "does not tell who it worked for"),
    ],
)
def test_bad_usage_is_a_sentence(necroscope: Program, store: Path, arguments: tuple[str, ...], words: str) -> None:
    ran = necroscope("heatmap", "--store", store, *WINDOW, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert "hint:" in ran.err


def test_an_imported_profile_has_no_counters(necroscope: Program, tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.add_samples(batch([One(START_NS)]))
    writer.close()
    ran = necroscope("heatmap", "--store", tmp_path)
    assert ran.code == 2
    assert "--sub-second" in ran.err
    assert necroscope("heatmap", "--store", tmp_path, "--sub-second").code == 0


def test_counters_alone_have_a_last_minute_too(necroscope: Program, tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    for number in range(101):
        values = (("system", number * 0.25), ("idle", number * 0.75))
        writer.add_signals(
            START_NS + number * NS, [Sample("cpu_time_seconds", value, ("0", mode)) for mode, value in values], "cpu"
        )
    writer.close()
    made = necroscope("heatmap", "--store", tmp_path, "--json").document
    assert made["from"].startswith("2026-01-02T03:04:45")
    known = [value for value in made["rows"][0]["values"] if value is not None]
    assert len(known) >= 59
    assert set(known) == {0.25}
    ran = necroscope("heatmap", "--sub-second", "--store", tmp_path)
    assert (ran.code, "The store has no samples." in ran.err) == (2, True)
