"""A real Prometheus and a real Alertmanager on loopback, with a webhook behind it; all ended by pid."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from stage.processes import wait_for


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skips where they are not installed."""
    absent = [name for name in programs if not shutil.which(name)]
    return pytest.mark.skipif(
        bool(absent), reason=f"needs {', '.join(absent)} (Debian: prometheus prometheus-alertmanager)"
    )


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def get(url: str, within: Sequence[str] = (), **query: str) -> Any:
    """The JSON that an API answers."""
    full = f"{url}?{urllib.parse.urlencode(query)}" if query else url
    return json.loads(_fetched(full, within))


def _fetched(url: str, within: Sequence[str]) -> bytes:
    """Asked from a process that stands where the server does."""
    program = "import sys, urllib.request as u; sys.stdout.buffer.write(u.urlopen(sys.argv[1], timeout=5).read())"
    ran = subprocess.run([*within, sys.executable, "-c", program, url], capture_output=True)
    if ran.returncode:
        raise OSError(ran.stderr.decode()[-300:])
    return ran.stdout


@contextlib.contextmanager
def prometheus(
    folder: Path, target: str, rules: str = "", alertmanager: str = "", within: Sequence[str] = ()
) -> Iterator[str]:
    """Scrapes the target every second; its address. `within`: a command that runs it elsewhere, such as in another
    network namespace."""
    folder.mkdir()
    (folder / "rules.yaml").write_text(rules or "groups: []\n")
    alerting = f"alerting: {{alertmanagers: [{{static_configs: [{{targets: ['{alertmanager}']}}]}}]}}\n"
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
        f"{alerting if alertmanager else ''}"
        "rule_files: [rules.yaml]\n"
        f"scrape_configs: [{{job_name: necroscope, static_configs: [{{targets: ['{target}']}}]}}]\n"
    )
    port = free_port()
    command = [
        *within,
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with _running(command, folder / "log", f"http://127.0.0.1:{port}/-/ready", within) as address:
        yield address


@contextlib.contextmanager
def alertmanager(folder: Path, webhook: str, within: Sequence[str] = ()) -> Iterator[str]:
    """Hands every alert to the webhook at once, and its end too; its address."""
    folder.mkdir()
    (folder / "alertmanager.yml").write_text(
        "global: {resolve_timeout: 5s}\n"
        "route: {receiver: hook, group_by: ['...'], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}\n"
        f"receivers: [{{name: hook, webhook_configs: [{{url: '{webhook}', send_resolved: true}}]}}]\n"
    )
    port = free_port()
    command = [
        *within,
        "prometheus-alertmanager",
        f"--config.file={folder / 'alertmanager.yml'}",
        f"--storage.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
    ]
    with _running(command, folder / "log", f"http://127.0.0.1:{port}/-/ready", within) as address:
        yield address


@contextlib.contextmanager
def _running(command: list[str], log: Path, ready: str, within: Sequence[str]) -> Iterator[str]:
    with log.open("wb") as said:
        started = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
    try:
        wait_for(lambda: _answers(ready, within), f"{command[0]}: {log.read_text()[-1000:]}", 30.0)
        yield ready.removesuffix("/-/ready")
    finally:
        started.terminate()
        try:
            started.wait(5)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def _answers(url: str, within: Sequence[str]) -> bool:
    try:
        return bool(_fetched(url, within))
    except OSError:
        return False
