"""The archive that a kernel unpacks first."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from guests.archive import Member, cpio

MEMBERS = [Member("bin", b"", 0o040755), Member("bin/tool", b"five5", 0o100755), Member("init", b"", 0o100644)]


def test_each_record_is_a_header_a_name_and_a_content_padded_to_four_bytes() -> None:
    archive = cpio(MEMBERS)
    assert len(archive) % 4 == 0
    at = archive.index(b"bin/tool\0") - 110
    header = archive[at : at + 110]
    assert header[:6] == b"070701"
    inode, mode, *_ = (int(header[6 + 8 * place : 14 + 8 * place], 16) for place in range(13))
    assert (inode, mode) == (2, 0o100755)
    assert int(header[6 + 8 * 6 : 14 + 8 * 6], 16) == 5
    # 110 bytes and a name of 9 are padded by one.
    assert archive[at + 120 : at + 125] == b"five5"
    assert b"TRAILER!!!\0" in archive[-16:]


@pytest.mark.skipif(not shutil.which("busybox"), reason="needs busybox (Debian: busybox-static)")
def test_another_program_unpacks_it(tmp_path: Path) -> None:
    ran = subprocess.run(["busybox", "cpio", "-id"], input=cpio(MEMBERS), cwd=tmp_path, capture_output=True)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "bin/tool").read_bytes() == b"five5"
    assert (tmp_path / "bin/tool").stat().st_mode & 0o777 == 0o755
