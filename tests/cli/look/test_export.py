"""`necroscope export` as users see it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from necroscope.cli.look.export import _file, export
from necroscope.clock import NS
from necroscope.errors import BadInput
from necroscope.show.export.formats import FORMATS
from necroscope.show.export.source import Source
from necroscope.store.read.catalog import segments
from necroscope.store.write.writer import Writer
from stage import looked
from stage.exported import RESET, fill, rows, total_ns, working
from stage.looked import One
from stage.program import Program
from stage.recorded import LOOP, START_NS, batch, stack


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("store")
    writer = fill(folder)
    yield folder
    writer.close()


def test_every_format_is_written_and_told(necroscope: Program, store: Path, tmp_path: Path) -> None:
    for name in FORMATS:
        ran = necroscope("export", "--format", name, "-o", tmp_path / name, "--store", store)
        assert (ran.code, ran.out) == (0, "")
        told, idle = ran.err.splitlines()
        assert told == (
            f"{name}: {len(working())} samples of 2026-01-02T03:04:05.000Z to 2026-01-02T03:04:10.966Z "
            "(6.0 s, the last that was recorded)"
        )
        assert f"left out: {len(rows()) - len(working())} samples of idle cores" in idle
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FORMATS)
    assert pq.read_metadata(tmp_path / "parquet").num_rows == len(working())
    assert json.loads((tmp_path / "speedscope").read_text())["profiles"][0]["endValue"] == total_ns(working())
    assert gzip.decompress((tmp_path / "pprof").read_bytes())
    assert len(json.loads((tmp_path / "otlp-json").read_text())["resourceProfiles"]) == 1


def counted(folded: str) -> int:
    return sum(int(line.rpartition(" ")[2]) for line in folded.splitlines())


def test_standard_output(necroscope: Program, store: Path) -> None:
    ran = necroscope("export", "--format", "folded", "-o", "-", "--store", store, "--idle", "-q")
    assert (ran.code, ran.err, counted(ran.out)) == (0, "", len(rows()))


def test_a_window_around_an_event_of_a_process(necroscope: Program, store: Path) -> None:
    window = ("--event", RESET.id, "--before", "1s", "--after", "500ms", "--process", "100", "--cpu", "0-1")
    ran = necroscope("export", "--format", "folded", "-o", "-", "--store", store, *window)
    expected = [row for row in working() if row.pid == 100 and RESET.at_ns - NS <= row.at_ns <= RESET.at_ns + NS // 2]
    assert counted(ran.out) == len(expected) > 0
    assert "1.5 s, around nic-reset eth0), cpu 0,1, process 100" in ran.err


def test_a_thread_name_and_a_cgroup(necroscope: Program, store: Path) -> None:
    chosen = ("--process", "worker", "--cgroup", "/system.slice")
    ran = necroscope("export", "--format", "folded", "-o", "-", "--store", store, "-q", *chosen)
    expected = sum(row.comm == "worker" and row.cgroup.startswith("/system.slice/") for row in working())
    assert counted(ran.out) == expected > 0


def test_a_file_is_replaced_whole_or_not_at_all(necroscope: Program, store: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.folded"
    file.write_text("before\n")
    ran = necroscope("export", "--format", "folded", "-o", file, "--store", store, "--cpu", "99")
    assert (ran.code, file.read_text()) == (2, "before\n")
    assert "There are no samples in" in ran.err
    assert "hint: the cores that were seen there are " in ran.err
    assert necroscope("export", "--format", "folded", "-o", file, "--store", store).code == 0
    assert counted(file.read_text()) == len(working())
    assert [path.name for path in tmp_path.iterdir()] == ["out.folded"]


def test_only_idle_samples(necroscope: Program, store: Path) -> None:
    at_ns = next(row.at_ns for row in rows() if row.idle)
    window = ("--from", at_ns, "--to", at_ns)
    ran = necroscope("export", "--format", "folded", "-o", "-", "--store", store, *window)
    assert ran.code == 2
    assert "are of idle cores" in ran.err
    assert "--idle" in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--format", "svg", "-o", "-"), "svg"),
        (("--format", "folded"), "--output"),
        (("--format", "folded", "-o", "/nonexistent/x"), "/nonexistent/x cannot be written"),
        (("--format", "folded", "-o", "-", "--event", "nope"), "has no event nope"),
        (("--format", "folded", "-o", "-", "--from", "noon"), "is not a valid time"),
    ],
)
def test_bad_usage_is_a_sentence(necroscope: Program, store: Path, arguments: tuple[str, ...], words: str) -> None:
    ran = necroscope("export", *arguments, "--store", store)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert "hint:" in ran.err or "see necroscope export --help" in ran.err


def test_a_device_is_written_to_and_not_replaced(necroscope: Program, store: Path) -> None:
    ran = necroscope("export", "--format", "pprof", "-o", "/dev/null", "--store", store)
    assert ran.code == 0
    assert Path("/dev/null").is_char_device()


def test_bytes_are_not_for_a_terminal(store: Path) -> None:
    terminal, other = os.openpty()
    command = [Path(sys.executable).parent / "necroscope", "export", "--format", "pprof", "-o", "-", "--store", store]
    try:
        done = subprocess.run(command, stdout=other, stderr=subprocess.PIPE, text=True, timeout=60)
    finally:
        os.close(terminal)
        os.close(other)
    assert done.returncode == 2
    assert "pprof is not for a terminal" in done.stderr


def test_loading_the_verb_loads_no_numbers() -> None:
    code = (
        "import sys, click; from necroscope.cli.main import main; main.get_command(click.Context(main), 'export');"
        "print(sorted({'numpy', 'pyarrow', 'duckdb', 'google.protobuf'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_a_store_that_changes_meanwhile_is_read_again(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from necroscope.show.export import folded

    tries, write = [], folded.write

    def merged_away(source: Source, file: BinaryIO) -> None:
        tries.append(file.write(b"half a line"))
        if len(tries) < 3:
            raise FileNotFoundError("samples.parquet")
        file.seek(0)
        file.truncate()
        write(source, file)

    monkeypatch.setattr(folded, "write", merged_away)
    arguments = ["--format", "folded", "-o", str(tmp_path / "out"), "--store", str(store)]
    assert CliRunner().invoke(export, arguments).exit_code == 0
    assert counted((tmp_path / "out").read_text()) == len(working())
    tries[:] = []
    monkeypatch.setattr(folded, "write", lambda source, file: (tmp_path / "gone").read_bytes())
    ran = CliRunner().invoke(export, arguments)
    assert isinstance(ran.exception, BadInput)
    assert "changes faster" in ran.exception.message


def test_what_of_a_journal_cannot_be_read_is_told(necroscope: Program, tmp_path: Path) -> None:
    writer = fill(tmp_path / "store")
    (journal,) = (tmp_path / "store" / "journal").glob("*.journal")
    with journal.open("ab") as file:
        file.write(b"torn")
    ran = necroscope("export", "--format", "folded", "-o", "-", "--store", tmp_path / "store")
    assert (ran.code, counted(ran.out)) == (0, len(working()))
    assert "journal" in ran.err.splitlines()[0]
    assert "what came before it is exported" in ran.err.splitlines()[0]
    writer.close()


def test_damage_is_told_and_the_rest_exported(necroscope: Program, tmp_path: Path) -> None:
    fill(tmp_path / "s").close()
    (segment,) = segments(tmp_path / "s")
    data = bytearray(segment.file("samples").read_bytes())
    data[100:200] = bytes(100)
    segment.file("samples").write_bytes(data)
    writer = Writer(tmp_path / "s", flush_s=1e9)
    writer.add_samples(batch([segment.to_ns + NS, segment.to_ns + NS + 1], [stack(LOOP)]))
    writer.close(merge=False)
    ran = necroscope(
        "export", "--format", "folded", "-o", "-", "--store", tmp_path / "s", "--from", "2026-01-01T00:00Z"
    )
    assert ran.code == 0
    assert f"necroscope: {segment.file('samples')} is damaged and left out" in ran.err.splitlines()
    assert counted(ran.out) == 2


def _two_kinds(folder: Path) -> Path:
    writer = Writer(folder, flush_s=1e9, segment_s=1e9)
    writer.add_samples(looked.batch([One(START_NS + n, event="cpu-clock", weight=7) for n in range(5)]))
    writer.add_samples(looked.batch([One(START_NS + n, event="cycles", weight=1000) for n in range(3)]))
    writer.add_samples(looked.batch([One(START_NS + n, pid=300, event="cycles", weight=1000) for n in range(1)]))
    writer.add_samples(looked.batch([One(START_NS + n, event="page-faults") for n in range(9)]))
    writer.close()
    return folder


def test_clocks_and_cycles_are_not_added_up(necroscope: Program, tmp_path: Path) -> None:
    store = _two_kinds(tmp_path / "s")
    for name in FORMATS:
        ran = necroscope("export", "--format", name, "-o", tmp_path / name, "--store", store)
        assert ran.err.splitlines()[0].startswith(
            "necroscope: samples of cycles are left out, as they measure the same"
        )
        assert f"{name}: 5 samples of" in ran.err
    assert json.loads((tmp_path / "speedscope").read_text())["profiles"][0]["endValue"] == 35
    assert pq.read_table(tmp_path / "parquet")["event"].unique().to_pylist() == ["cpu-clock"]
    # Of what is asked for, not of what is there.
    ran = necroscope("export", "--format", "folded", "-o", "-", "--store", store, "--process", "300")
    assert (ran.code, counted(ran.out), "left out" in ran.err) == (0, 1, False)
    ran = necroscope("export", "--format", "folded", "-o", "-", "--store", store, "--event-type", "cycles")
    assert (counted(ran.out), "left out" in ran.err) == (4, False)


def test_other_events_are_named_where_there_is_no_time(necroscope: Program, tmp_path: Path) -> None:
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    writer.add_samples(looked.batch([One(START_NS + n, event="page-faults") for n in range(9)]))
    writer.close()
    for verb in (("export", "--format", "folded", "-o", "-"), ("top",), ("flame",), ("heatmap", "--sub-second")):
        ran = necroscope(*verb, "--store", tmp_path)
        assert (ran.code, ran.out) == (2, "")
        assert "hint: there are some of other events; add --event-type page-faults" in ran.err


def test_counts_of_folded_stacks_survive(necroscope: Program, tmp_path: Path) -> None:
    text = "a;b 30\na;c_[k] 70\nd;e 5\n"
    (tmp_path / "a.folded").write_text(text)
    assert necroscope("import", tmp_path / "a.folded", "--store", tmp_path / "s", "--at", "2026-01-02").code == 0
    for chosen in ((), ("--event-type", "folded")):
        ran = necroscope("export", "--format", "folded", "-o", "-", "--store", tmp_path / "s", *chosen)
        assert (ran.code, sorted(ran.out.splitlines())) == (0, sorted(text.splitlines()))
        assert "folded: 105 samples" in ran.err
        necroscope("export", "--format", "speedscope", "-o", tmp_path / "x", "--store", tmp_path / "s", *chosen)
        (all_of_it, _) = json.loads((tmp_path / "x").read_text())["profiles"]
        assert sorted(all_of_it["weights"]) == [5, 30, 70]
        necroscope("export", "--format", "otlp-json", "-o", tmp_path / "x", "--store", tmp_path / "s", *chosen)
        (profiles,) = json.loads((tmp_path / "x").read_text())["resourceProfiles"]
        samples = profiles["scopeProfiles"][0]["profiles"][0]["samples"]
        assert sorted(int(one["values"][0]) for one in samples) == [5, 30, 70]


def test_what_lies_under_the_temporary_name_is_not_written_through(tmp_path: Path) -> None:
    victim, output = tmp_path / "victim", tmp_path / "out.folded"
    victim.write_bytes(b"kept")
    planted = tmp_path / f".out.folded.{os.getpid()}"
    planted.symlink_to(victim)
    with pytest.raises(BadInput, match="cannot be written: File exists"), _file(output):
        pass
    assert victim.read_bytes() == b"kept"
    assert not output.exists()
