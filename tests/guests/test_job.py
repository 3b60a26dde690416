"""What goes into a guest, and what comes out."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from guests import job


def test_every_job_is_a_program_with_a_verdict() -> None:
    for name in job.names():
        code = (job.JOBS / f"{name}.py").read_text("utf-8")
        assert "def main() -> int:" in code
        assert code.endswith('if __name__ == "__main__":\n    sys.exit(main())\n')


def test_a_job_is_packed_with_the_program_and_without_the_machines_own_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job.shutil, "which", lambda name: None)
    packed = job.pack("facts", "arm64", tmp_path / "job")
    assert packed.stat().st_size % 512 == 0
    with tarfile.open(packed) as tar:
        names = tar.getnames()
        script = tar.extractfile("./run")
        assert script is not None
        assert script.read().decode().splitlines()[-1] == "exec python3 -m guests.jobs.facts"
        assert tar.getmember("./run").mode == 0o755
    assert "./src/necroscope/cli/main.py" in names
    assert "./guests/jobs/program.py" in names
    assert not [name for name in names if name.endswith("_native.so")]


def test_what_a_guest_left(tmp_path: Path) -> None:
    disk = tmp_path / "left"
    with tarfile.open(disk, "w") as tar:
        for name, content in (("status", b"1\n"), ("output", b"said \xff\n"), ("kmsg", b"4,1,1,-;x\n"), ("a/b", b"f")):
            member = tarfile.TarInfo(f"./{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    with disk.open("ab") as file:
        file.truncate(1 << 20)
    left = job.unpack(disk, tmp_path / "here")
    assert (left.status, left.output, left.kmsg) == (1, "said \ufffd\n", b"4,1,1,-;x\n")
    assert (left.folder / "a/b").read_bytes() == b"f"


def test_a_guest_that_left_nothing(tmp_path: Path) -> None:
    (tmp_path / "left").write_bytes(bytes(1 << 16))
    left = job.unpack(tmp_path / "left", tmp_path / "here")
    assert (left.status, left.output, left.kmsg) == (None, "", b"")


def test_the_first_script_is_one_that_a_shell_understands() -> None:
    script = job.JOBS.parent / "init.sh"
    ran = subprocess.run(["sh", "-n", str(script)], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
