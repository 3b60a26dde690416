"""`necroscope serve` as users start it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from stage.incidents import INCIDENTS
from stage.program import Program

BUNDLE = INCIDENTS / "hog-5.10-v2.ncb"
pytestmark = pytest.mark.program


@contextmanager
def _started(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [str(Path(sys.executable).parent / "necroscope"), "serve", "--bundle", str(BUNDLE), *arguments]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    try:
        yield running.stdout.readline().strip(), running
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGTERM)
        running.communicate(timeout=20)


def _get(url: str, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    try:
        connection.request("GET", parts.path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_it_says_where_it_is_and_answers_there() -> None:
    with _started("--listen", "127.0.0.1:0") as (url, running):
        assert _get(url)[0] == 200
        status, body = _get(f"{url}api/v1/recording")
        assert (status, json.loads(body)["source"]) == (200, "bundle")
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate(timeout=20)
        assert "Ctrl-C" in said
        assert "Traceback" not in said


def test_beyond_loopback_it_warns_and_asks_for_a_token() -> None:
    with _started("--listen", "0.0.0.0:0") as (url, running):
        port, token = urlsplit(url).port, urlsplit(url).fragment.removeprefix("token=")
        here = f"http://127.0.0.1:{port}/api/v1/recording"
        assert _get(here)[0] == 401
        assert _get(here, {"Authorization": f"Bearer {token}"})[0] == 200
        running.send_signal(signal.SIGTERM)
        assert "nothing is encrypted" in running.communicate(timeout=20)[1]


def test_bad_input_is_one_sentence(necroscope: Program, tmp_path: Path) -> None:
    assert necroscope("serve", "--store", tmp_path / "no").code == 2
    wrong = necroscope("serve", "--bundle", BUNDLE, "--listen", "nowhere")
    assert (wrong.code, wrong.out) == (2, "")
    assert "127.0.0.1:7373" in wrong.err
    short = tmp_path / "token"
    short.write_text("abc")
    assert necroscope("serve", "--bundle", BUNDLE, "--token-file", short).code == 2


def test_a_port_that_is_taken_is_no_defect(necroscope: Program) -> None:
    with _started("--listen", "127.0.0.1:0") as (url, _):
        got = necroscope("serve", "--bundle", BUNDLE, "--listen", f"127.0.0.1:{urlsplit(url).port}")
        assert got.code == 3
        assert "cannot be listened on" in got.err


def test_it_leaves_no_unpacked_bundle_behind(tmp_path: Path) -> None:
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(tmp_path)
    try:
        with _started("--listen", "127.0.0.1:0") as (url, running):
            assert list(tmp_path.iterdir())
            running.send_signal(signal.SIGTERM)
            running.communicate(timeout=20)
            assert url
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before
    assert not list(tmp_path.iterdir())
