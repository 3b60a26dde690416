"""`necroscope import` as users see it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from perf import recorded

from necroscope.sense.importers.source import LOCAL
from stage.program import Program

FILE = recorded.FOLDER / "file.data"


def test_a_file_is_imported_once(necroscope: Program, tmp_path: Path) -> None:
    first = necroscope("import", FILE, "--store", tmp_path)
    assert first.code == 0
    assert first.out.startswith(f"{FILE}: ")
    assert "when it was recorded is guessed from the file's date" in first.out
    again = necroscope("import", FILE, "--store", tmp_path, "--jobs", "2")
    assert again.out.rstrip().endswith("already imported")
    (row,) = json.loads(necroscope("sql", "--store", tmp_path, "--json", "select count(*) as n from samples").out)
    assert f"{row['n']:,} samples" in first.out


def test_what_is_no_recording_is_one_sentence_and_exit_code_2(necroscope: Program, tmp_path: Path) -> None:
    odd = tmp_path / "notes.txt"
    odd.write_text("hello\n" * 1000)
    refused = necroscope("import", odd, "--store", tmp_path / "store")
    assert refused.code == 2
    assert refused.err.startswith("necroscope: ")
    assert refused.out == ""


def test_quiet_is_quiet(necroscope: Program, tmp_path: Path) -> None:
    done = necroscope("import", FILE, "--store", tmp_path, "-q")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_one_bad_file_does_not_keep_the_others_out(necroscope: Program, tmp_path: Path) -> None:
    done = necroscope("import", tmp_path / "nothere.data", FILE, "--store", tmp_path / "store")
    assert done.code == 2
    assert "nothere.data cannot be opened" in done.err
    assert "1 of 2 files were not imported" in done.err
    assert "hint: " in done.err
    assert done.out.startswith(f"{FILE}: perf-data, ")


@pytest.mark.parametrize("offset", ["nan", "inf", "1e30", "-1e12", "-1e10"])
def test_an_absurd_offset_is_one_sentence(necroscope: Program, tmp_path: Path, offset: str) -> None:
    done = necroscope("import", FILE, "--clock-offset", offset, "--store", tmp_path / "store")
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 2
    assert "clock offset" in done.err or "before 1970 or after 2262" in done.err


def _mpstat() -> str:
    load = {"usr": 1.0, "nice": 0.0, "sys": 95.0, "iowait": 0.0, "irq": 0.0, "soft": 4.0, "steal": 0.0, "idle": 0.0}
    statistics = [{"timestamp": f"03:04:{n:02d}", "cpu-load": [{"cpu": "0", **load}]} for n in range(10, 40)]
    host = {"nodename": "nodeX", "date": "2026-01-02", "statistics": statistics}
    return json.dumps({"sysstat": {"hosts": [host]}})


def test_counters_are_told_and_so_is_a_cut(necroscope: Program, tmp_path: Path) -> None:
    (tmp_path / "mp.json").write_text(_mpstat())
    done = necroscope("import", tmp_path / "mp.json", "--store", tmp_path / "a")
    assert done.out == f"{tmp_path}/mp.json: mpstat, what the cores did at 31 times; {LOCAL}\n"
    (tmp_path / "mp.json").write_text(_mpstat()[: len(_mpstat()) // 2])
    done = necroscope("import", tmp_path / "mp.json", "--store", tmp_path / "b")
    assert "what the cores did at 15 times; the file ends early" in done.out
    told = necroscope("import", tmp_path / "mp.json", "--clock-offset", 0, "--store", tmp_path / "c")
    assert LOCAL not in told.out


def test_a_host_that_is_not_in_the_file_imports_nothing(necroscope: Program, tmp_path: Path) -> None:
    (tmp_path / "mp.json").write_text(_mpstat())
    done = necroscope("import", "--host", "other", tmp_path / "mp.json", "--store", tmp_path / "s")
    assert (done.code, done.out) == (2, "")
    assert "has nothing of other, only of nodeX" in done.err
    assert json.loads(necroscope("sql", "--store", tmp_path / "s", "--json", "select * from cores").out) == []


def test_damaged_and_odd_files_are_called_so(necroscope: Program, tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(b"\x1f\x8b" + bytes(range(50, 100)))
    damaged = necroscope("import", tmp_path / "x.gz", "--store", tmp_path / "s")
    assert (damaged.code, "x.gz is damaged" in damaged.err, "hint: " in damaged.err) == (2, True, True)
    device = necroscope("import", "/dev/null", "--store", tmp_path / "s")
    assert (device.code, "/dev/null is not a file" in device.err, "hint: " in device.err) == (2, True, True)


def test_json_tells_what_was_and_what_was_not_used(necroscope: Program, tmp_path: Path) -> None:
    (tmp_path / "x.folded").write_text("a;b 3\nbad\nc;d 4\ne;f 5\n")
    done = necroscope("import", "--json", FILE, tmp_path / "x.folded", tmp_path / "none", "--store", tmp_path / "s")
    assert done.code == 2
    document = json.loads(done.out)
    assert document["schema"] == "necroscope.import/1"
    data, folded, missing = document["files"]
    assert (data["kind"], data["exact"], data["already"]) == ("perf-data", False, False)
    assert data["samples"] == len(recorded.script("file"))
    assert any(note["text"].startswith("when it was recorded is guessed") for note in data["notes"])
    assert (folded["kind"], folded["samples"]) == ("folded", 3)
    assert {"count": 1, "text": "1 lines were no folded stacks"} in folded["notes"]
    assert "cannot be opened" in missing["error"]
    assert missing["hint"]


def test_a_zone_is_one_of_local_times_in_logs_and_counters_too(necroscope: Program, tmp_path: Path) -> None:
    (tmp_path / "mp.json").write_text(_mpstat())
    done = necroscope("import", tmp_path / "mp.json", "--zone", "-08:00", "--store", tmp_path / "s")
    assert done.code == 0
    (row,) = json.loads(necroscope("sql", "--store", tmp_path / "s", "--json", "select min(at_ns) as n from cores").out)
    assert int(row["n"]) // 10**9 in range(1_767_323_050 + 8 * 3600 - 2, 1_767_323_050 + 8 * 3600 + 3)


def test_the_zone_of_a_name_is_one_of_perf_s_files(necroscope: Program, tmp_path: Path) -> None:
    path = tmp_path / "perf-20260102-03-04-05.data"
    path.write_bytes(FILE.read_bytes())
    done = necroscope("import", path, "--zone", "-08:00", "--store", tmp_path / "s")
    assert "2026-01-02 03:04:05 UTC-08:00, as given" in done.out
    (row,) = json.loads(
        necroscope("sql", "--store", tmp_path / "s", "--json", "select min(at_ns) as n from samples").out
    )
    assert 0 <= int(row["n"]) - (1_767_323_045 + 8 * 3600) * 10**9 < 10**9
    (tmp_path / "x.folded").write_text("a;b 3\n")
    refused = necroscope("import", tmp_path / "x.folded", "--zone", "-08:00", "--store", tmp_path / "s")
    assert (refused.code, "say with --at" in refused.err) == (2, True)
    assert necroscope("import", path, "--zone", "PST", "--store", tmp_path / "s").code == 2


def test_an_import_loads_only_what_it_uses(tmp_path: Path) -> None:
    """A tenth of a short import goes to loading: what is slow to load and not needed stays away."""
    slow = {"pyarrow.compute", "numpy.random", "tomllib", "duckdb", "rich", "necroscope.sense.perf.symbols.live_names"}
    arguments = ["necroscope", "import", str(FILE), "--store", str(tmp_path)]
    code = (
        f"import atexit, sys; sys.argv = {arguments!r};"
        f"atexit.register(lambda: print(sorted({slow!r} & set(sys.modules))));"
        "from necroscope.cli.main import run; run()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
