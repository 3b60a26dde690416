"""Who ships a file, by the records of dpkg and of rpm, and what broken records cost."""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.packages.dpkg import parse_versions
from necroscope.sense.packages.rpm import parse_header
from necroscope.sense.packages.shipped_by import shipped_by
from stage.image import learning_image

UNIT = "/usr/lib/systemd/system/ecs.service"


def header(name: str, version: str, release: str, files: list[str]) -> bytes:
    """A header as rpm writes it."""
    folders = sorted({file.rpartition("/")[0] + "/" for file in files})
    numbers = [folders.index(file.rpartition("/")[0] + "/") for file in files]
    texts = {1000: [name], 1001: [version], 1002: [release], 1117: [f.rpartition("/")[2] for f in files], 1118: folders}
    data, index = b"", b""
    for tag, values in texts.items():
        index += struct.pack(">IIII", tag, 8 if tag > 1100 else 6, len(data), len(values))
        data += b"".join(value.encode() + b"\0" for value in values)
    index += struct.pack(">IIII", 1116, 4, len(data), len(numbers))
    data += struct.pack(f">{len(numbers)}I", *numbers)
    return struct.pack(">II", len(index) // 16, len(data)) + index + data


def rpm_database(root: Path, blob: bytes, wal: bool = False) -> None:
    path = root / "usr/lib/sysimage/rpm/rpmdb.sqlite"
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as made:
        if wal:
            made.execute("PRAGMA journal_mode=WAL")
        made.execute("CREATE TABLE Packages (hnum INTEGER PRIMARY KEY, blob BLOB NOT NULL)")
        made.execute("CREATE TABLE Basenames (key TEXT NOT NULL, hnum INTEGER NOT NULL, idx INTEGER NOT NULL)")
        made.execute("INSERT INTO Packages VALUES (7, ?)", (blob,))
        made.execute("INSERT INTO Basenames VALUES ('ecs.service', 7, 0)")
    made.close()


def test_dpkg_tells_also_where_usr_was_merged(tmp_path: Path) -> None:
    image = learning_image(tmp_path / "image")
    found = shipped_by(Host(image.root), [UNIT, "/usr/lib/systemd/system/kubelet.service", "relative"])
    assert found == {UNIT: "amazon-ecs-init 1.82.0-1"}


@pytest.mark.parametrize("wal", [False, True])
def test_rpm_tells_by_the_names_of_files(tmp_path: Path, wal: bool) -> None:
    rpm_database(tmp_path, header("ecs-init", "1.82.0", "1.amzn2023", ["/etc/ecs/ecs.config", UNIT]), wal)
    assert shipped_by(Host(tmp_path), [UNIT, "/opt/ecs.service"]) == {UNIT: "ecs-init 1.82.0-1.amzn2023"}


@pytest.mark.parametrize("blob", [b"", b"\xff" * 64, header("a", "1", "1", [UNIT])[:-9]])
def test_a_broken_header_is_unavailable(tmp_path: Path, blob: bytes) -> None:
    rpm_database(tmp_path, blob)
    with pytest.raises(Unavailable, match="rpm's database cannot be read"):
        shipped_by(Host(tmp_path), [UNIT])


def test_an_empty_header_ships_nothing(tmp_path: Path) -> None:
    rpm_database(tmp_path, b"\0" * 8)
    assert shipped_by(Host(tmp_path), [UNIT]) == {}


def test_a_database_that_is_none_is_unavailable(tmp_path: Path) -> None:
    place = tmp_path / "var/lib/rpm/rpmdb.sqlite"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"\xde\xad" * 500)
    with pytest.raises(Unavailable, match="cannot be read"):
        shipped_by(Host(tmp_path), [UNIT])


def test_without_records_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no records of dpkg or rpm"):
        shipped_by(Host(tmp_path), [UNIT])


def test_headers_and_versions_of_others_are_left_out() -> None:
    assert parse_header(header("a", "1", "2", ["/x/y"])) == ("a 1-2", frozenset({"/x/y"}))
    status = b"Package: a\nVersion: 1\n\nPackage: b\nStatus: x\nVersion: 2\n\nPackage: c\n\nVersion: 3\n"
    assert parse_versions(status, {"a", "b", "c"}) == {"a": "1", "b": "2"}
