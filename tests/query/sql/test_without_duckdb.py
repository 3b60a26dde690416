"""An installation without DuckDB (69 MB less on a node) records, explains and draws; only what is SQL says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BUNDLE = str(Path(__file__).parents[2] / "incidents" / "hog-5.10-v2.ncb")
_WITHOUT = """
import sys
sys.modules["duckdb"] = None
from necroscope.cli.main import run
sys.argv = ["necroscope", *sys.argv[1:]]
run()
"""


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", _WITHOUT, *words], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    "words",
    [
        ("why",),
        ("top",),
        ("heatmap",),
        ("flame",),
        ("verify",),
        ("export", "--format", "folded", "-o", "OUT"),
        ("bundle", "OUT"),
    ],
    ids=lambda words: words[0],
)
def test_what_is_no_sql_works(words: tuple[str, ...], tmp_path: Path) -> None:
    made = tmp_path / "made"
    ran = _run(*(str(made) if word == "OUT" else word for word in words), "--bundle", BUNDLE)
    assert ran.returncode in (0, 1), ran.stderr
    assert ran.stdout or made.stat().st_size


def test_importing_works(tmp_path: Path) -> None:
    log = Path(__file__).parents[2] / "sense" / "importers" / "node_logs" / "dmesg-iso.txt"
    ran = _run("import", str(log), "--store", str(tmp_path / "store"))
    assert ran.returncode == 0, ran.stderr


def test_the_recorder_and_the_scan_do_not_load_it() -> None:
    code = (
        "import sys; sys.modules['duckdb'] = None; "
        "import necroscope.record.plan, necroscope.record.recorder, necroscope.scan.scanner, necroscope.explain"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_sql_says_what_is_missing() -> None:
    ran = _run("sql", "select 1", "--bundle", BUNDLE)
    assert (ran.returncode, ran.stdout) == (3, "")
    assert ran.stderr == ("necroscope: SQL needs DuckDB, which is not installed here\n  hint: pip install duckdb\n")
