"""A window in a bundle: what lies in it, and that nothing hostile is read from one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from necroscope.errors import BadInput
from necroscope.store.bundle import recording as recordings
from necroscope.store.bundle.archive import SCHEMA, pack, unpack
from necroscope.store.bundle.excerpt import Excerpt, excerpt
from necroscope.store.bundle.recording import entries, is_recording, recording
from necroscope.store.read.reader import Store
from necroscope.store.redact.rows import Redactor
from stage.everything import fill
from stage.recorded import START_NS

WINDOW = (START_NS, START_NS + 5_000_000_000)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Excerpt:
    folder = tmp_path_factory.mktemp("recording")
    fill(folder / "store").close()
    return excerpt(Store(folder / "store"), WINDOW, folder / "copy")


@pytest.fixture
def folder(made: Excerpt, tmp_path: Path) -> Path:
    """An unpacked bundle."""
    packed = pack(entries(made, WINDOW, None), tmp_path / "x.ncb")
    out = tmp_path / "out"
    out.mkdir()
    unpack(packed.path, out)
    return out


def test_what_is_in_it(folder: Path, made: Excerpt) -> None:
    manifest = json.loads((folder / "necroscope/manifest.json").read_text())
    assert manifest["schema"] == SCHEMA
    assert (manifest["holds"], manifest["redacted"], manifest["window_ns"]) == ("recording", False, list(WINDOW))
    assert manifest["window"] == ["2026-01-02T03:04:05.000Z", "2026-01-02T03:04:10.000Z"]
    assert manifest["rows"] == made.rows
    assert manifest["packed_on"]["hostname"] == Path("/proc/sys/kernel/hostname").read_text().strip()
    assert is_recording(folder)
    store = recording(folder, Path("x"))
    assert {path.relative_to(store) for path in store.rglob("*") if path.is_file()} == {
        path.relative_to(made.folder) for path in made.folder.rglob("*") if path.is_file()
    }


def test_a_redacted_one_does_not_name_the_host(made: Excerpt, tmp_path: Path) -> None:
    *_, manifest = entries(made, WINDOW, Redactor())
    said = json.loads(manifest.data or b"")
    assert said["redacted"]
    assert said["packed_on"]["hostname"].startswith("host-")


def _hostile_table(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    pq.write_table(change(pq.read_table(path)), path, store_schema=False)


def test_files_that_no_recording_has_are_refused(folder: Path) -> None:
    segment = next((folder / "necroscope/store/segments").iterdir())
    for odd in (
        segment / "evil.parquet",
        segment / "deeper/samples.parquet",
        segment.parent / "samples.parquet",
        segment.parent.parent / "journal/00000001.journal",
        segment.parent.parent / "lock",
        segment.parent / "nonsense/samples.parquet",
    ):
        odd.parent.mkdir(exist_ok=True)
        odd.write_bytes(b"x")
        with pytest.raises(BadInput, match="which no recording has"):
            recording(folder, Path("x"))
        odd.unlink()
    recording(folder, Path("x"))


@pytest.mark.parametrize("data", [b"", b"nonsense", b"PAR1" + bytes(100) + b"PAR1"])
def test_damaged_files_are_one_sentence(folder: Path, data: bytes) -> None:
    next(folder.glob("necroscope/store/segments/*/cores.parquet")).write_bytes(data)
    with pytest.raises(BadInput, match="its cores cannot be read"):
        recording(folder, Path("x"))


def test_other_columns_and_types_are_refused(folder: Path) -> None:
    path = next(folder.glob("necroscope/store/segments/*/cores.parquet"))
    whole = path.read_bytes()
    for change in (
        lambda table: table.drop_columns(["cpu"]),
        lambda table: table.set_column(1, "cpu", table["cpu"].cast(pa.string())),
    ):
        path.write_bytes(whole)
        _hostile_table(path, change)
        with pytest.raises(BadInput, match="other columns"):
            recording(folder, Path("x"))
    path.write_bytes(whole)
    _hostile_table(path, lambda table: table.append_column("later", pa.array([1] * table.num_rows)))
    recording(folder, Path("x"))


def test_a_small_file_of_many_rows_is_refused(folder: Path) -> None:
    path = next(folder.glob("necroscope/store/segments/*/zombies.parquet"))
    rows = recordings.MAX_FILE_ROWS + 1
    one = pq.read_table(path).slice(0, 1)
    table = pa.table({name: pa.repeat(one[name][0], rows) for name in one.column_names})
    pq.write_table(table, path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 1 << 20
    with pytest.raises(BadInput, match="more rows than any window"):
        recording(folder, Path("x"))


def test_many_such_files_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "MAX_OTHER_ROWS", 10)
    with pytest.raises(BadInput, match="more rows than any window"):
        recording(folder, Path("x"))


def test_a_capture_is_no_recording(tmp_path: Path) -> None:
    assert not is_recording(tmp_path)
    with pytest.raises(BadInput, match="no recording") as caught:
        recording(tmp_path, Path("node.ncb"))
    assert "scan --bundle node.ncb" in caught.value.hint
