"""`necroscope bundle`: what is taken along, what is not, and that it reads the same elsewhere."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from stage.program import Program


def _files(bundle: Path) -> dict[str, bytes]:
    with tarfile.open(bundle) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar if member.isreg()}  # type: ignore[union-attr]


def test_a_bundle_reads_like_the_host(necroscope: Program, tmp_path: Path) -> None:
    bundle = tmp_path / "node.ncb"
    made = necroscope("bundle", "--now", bundle, "--json")
    assert made.code == 0
    assert made.document["schema"] == "necroscope.bundled/1"
    live = necroscope("scan", "--json").document
    document = necroscope("scan", "--bundle", bundle, "--json").document
    assert document["captured"]
    assert document["host"] == live["host"]
    assert document["cgroups"]["mode"] == live["cgroups"]["mode"]
    assert document["cgroups"]["memory"]["counted_by"] == live["cgroups"]["memory"]["counted_by"]
    assert necroscope("scan", "--root", tmp_path, "--json").document["cgroups"]["memory"] is None


def test_no_environment_and_no_arguments_unless_asked(necroscope: Program, tmp_path: Path) -> None:
    secret = "s3cret-of-the-test"
    code = "print(flush=True); import time; time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", code, secret], stdout=subprocess.PIPE, env={"TOKEN": secret})
    try:
        assert child.stdout is not None
        child.stdout.readline()
        necroscope("bundle", "--now", tmp_path / "plain.ncb")
        necroscope("bundle", "--now", "--with-arguments", tmp_path / "asked.ncb")
    finally:
        child.kill()
        child.communicate()
    plain, asked = _files(tmp_path / "plain.ncb"), _files(tmp_path / "asked.ncb")
    assert not any(secret.encode() in data for data in plain.values())
    assert secret.encode() in asked[f"proc/{child.pid}/cmdline"]
    assert f"proc/{child.pid}/stat" in plain
    assert not any("environ" in name for name in asked)


def test_a_file_is_not_replaced_unless_told(necroscope: Program, tmp_path: Path) -> None:
    bundle = tmp_path / "node.ncb"
    bundle.write_text("precious")
    ran = necroscope("bundle", "--now", bundle)
    assert ran.code == 2
    assert "--force" in ran.err
    assert bundle.read_text() == "precious"
    assert necroscope("bundle", "--now", "--force", bundle, "-q").code == 0
    assert bundle.read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize("data", [b"", b"nonsense", b"\x1f\x8b" + b"\xff" * 200])
def test_what_is_no_bundle_gets_a_sentence(necroscope: Program, tmp_path: Path, data: bytes) -> None:
    broken = tmp_path / "broken.ncb"
    broken.write_bytes(data)
    ran = necroscope("scan", "--bundle", broken)
    assert (ran.code, ran.out) == (2, "")
    assert "no bundle, or is damaged" in ran.err
