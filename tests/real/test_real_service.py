"""The recorder as a systemd service on a booted systemd, with a real Prometheus and a real Alertmanager: a lab incident
ends in a verdict in the journal and an alert that names the unit, and the alert ends when the leaker is stopped.

Everything stands in the container's network: its loopback is its own. The rules are those of `deploy/`, with minutes
made seconds, as the test cannot wait for a quarter of an hour; `promtool test rules` holds them as they are.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from necroscope.lab.environment.symptom_source import SymptomSource
from stage.processes import wait_for
from stage.prometheus import alertmanager, get, needs, prometheus
from stage.systemd import SystemdStage, booted_systemd, leaky_unit

pytestmark = [
    pytest.mark.root,
    pytest.mark.bpf,
    pytest.mark.systemd,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not shutil.which("perf"), reason="needs perf (Debian: linux-perf)"),
    needs("prometheus", "prometheus-alertmanager"),
]

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).parent / "necroscope"
PRIVILEGES = (
    "--capability=CAP_PERFMON,CAP_BPF,CAP_SYSLOG",
    "--system-call-filter=perf_event_open bpf syslog",
)
AGENT = """
import mmap, os, sys, time
fd = os.memfd_create("pool")
os.ftruncate(fd, 128 << 20)
held = [mmap.mmap(fd, 128 << 20, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE) for _ in range(250)]
while True:
    if not os.path.exists(sys.argv[1]):
        time.sleep(0.2)
        continue
    with open("/proc/self/smaps", "rb", buffering=0) as smaps:
        while smaps.read(1 << 16):
            pass
"""
VICTIM = """
import time
while True:
    time.sleep(0.02)
    for _ in range(5000):
        pass
"""
WEBHOOK = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        with open(sys.argv[2], "ab") as out:
            out.write(self.rfile.read(int(self.headers["Content-Length"])) + b"\\n")
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
HOOK = 9499
CORE = max(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class Duty:
    """A node on duty."""

    node: SystemdStage
    folder: Path
    within: tuple[str, ...]
    log: SymptomSource
    prometheus: str

    def alerts(self) -> list[dict[str, Any]]:
        """What the webhook behind Alertmanager got, one alert after the other."""
        path = self.folder / "alerts"
        lines = path.read_text().splitlines() if path.exists() else []
        return [alert for line in lines if line.strip() for alert in json.loads(line)["alerts"]]

    def journal(self) -> list[dict[str, Any]]:
        """The recorder's lines."""
        lines = self.node.run("journalctl", "-u", "necroscope", "-o", "json", "--no-pager").splitlines()
        return [json.loads(line) for line in lines]


def _unit(script: Path, *arguments: str) -> str:
    command = f"{sys.executable} {script} {' '.join(arguments)}"
    return f"[Service]\nExecStart={command}\nCPUAffinity={CORE}\nMemoryAccounting=yes\n"


def _hold_the_core(script: Path) -> None:
    """Real-time priority for a unit's process, whatever else runs on this machine. Kernels that share real-time out by
    cgroup allow it in the root of the cpu hierarchy alone."""
    (pid,) = [
        int(line.parent.name)
        for line in Path("/proc").glob("[0-9]*/cmdline")
        if str(script).encode() in _bytes(line).split(b"\0")
    ]
    try:
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        Path("/sys/fs/cgroup/cpu/cgroup.procs").write_text(str(pid))
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(1))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _service(folder: Path) -> str:
    """The unit that is shipped, with this program and a kernel log of the test's own."""
    shipped = (ROOT / "deploy/systemd/necroscope.service").read_text("utf-8")
    places = f"--store {folder}/store --config {folder}/necroscope.toml --kernel-log {folder}/kmsg"
    own = f"ExecStart={PROGRAM} record {places}"
    return re.sub(r"^ExecStart=.*$", own, shipped, flags=re.MULTILINE)


def _quick_rules() -> str:
    text = (ROOT / "deploy/prometheus/rules.yaml").read_text("utf-8")
    text = re.sub(r"\b(for: )\d+m", r"\g<1>0s", text)
    text = text.replace("necroscope_memcg_zombies > 100", "necroscope_memcg_zombies > 20")
    return re.sub(r"(\[|offset )(15m|5m|1h)", r"\g<1>60s", text)


@contextmanager
def _webhook(folder: Path, within: tuple[str, ...]) -> Iterator[str]:
    program = folder / "webhook.py"
    program.write_text(WEBHOOK)
    started = subprocess.Popen([*within, sys.executable, str(program), str(HOOK), str(folder / "alerts")])
    try:
        yield f"http://127.0.0.1:{HOOK}/"
    finally:
        started.kill()
        started.wait()


@pytest.fixture(scope="module")
def duty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Duty]:
    folder = tmp_path_factory.mktemp("duty")
    log = SymptomSource(folder / "kmsg")
    python = Path(sys.base_prefix)
    binds = [ROOT, folder, *([] if str(python).startswith("/usr") else [python])]
    with booted_systemd(binds, PRIVILEGES) as node, ExitStack() as ending:
        node.run("mount", "-t", "tracefs", "none", "/sys/kernel/tracing", check=False)
        within = ("nsenter", "-t", str(node.leader), "-n")
        hook = ending.enter_context(_webhook(folder, within))
        pager = ending.enter_context(alertmanager(folder / "alertmanager", hook, within))
        (folder / "necroscope.toml").write_text(
            f"[metrics]\nlisten = '127.0.0.1:9477'\n[labels]\nzone = 'eu-1a'\n"
            f"[[sinks]]\nkind = 'alertmanager'\nurl = '{pager}'\n"
        )
        (folder / "agent.py").write_text(AGENT)
        (folder / "victim.py").write_text(VICTIM)
        node.add_unit("agent.service", _unit(folder / "agent.py", f"{folder}/go"))
        node.add_unit("victim.service", _unit(folder / "victim.py"))
        node.add_unit("necroscope.service", _service(folder))
        _wait(lambda: node.show("necroscope.service", "ActiveState") == "active", "the service to be ready", 40)
        rules, manager = _quick_rules(), pager.removeprefix("http://")
        address = ending.enter_context(prometheus(folder / "prometheus", "127.0.0.1:9477", rules, manager, within))
        _wait(lambda: node.show("agent.service", "ActiveState") == "active", "the agent", 10)
        time.sleep(1.0)  # it has its name by now
        _hold_the_core(folder / "agent.py")
        yield Duty(node, folder, within, log, address)
        node.run("systemctl", "stop", "necroscope", check=False)


def _wait(condition: Callable[[], bool], what: str, patience_s: float) -> None:
    def unhurried() -> bool:
        time.sleep(0.3)
        return condition()

    wait_for(unhurried, what, patience_s)


def test_the_service_is_ready_says_so_and_reloads(duty: Duty) -> None:
    assert duty.node.show("necroscope.service", "Type") == "notify"
    assert "recording" in duty.node.show("necroscope.service", "StatusText")
    (first, *_) = [line for line in duty.journal() if line["MESSAGE"].startswith("started: ")]
    assert first["PRIORITY"] == "6"
    assert "metrics at 127.0.0.1:9477" in first["MESSAGE"]
    duty.node.run("systemctl", "reload", "necroscope")
    _wait(lambda: any(line["MESSAGE"].startswith("reload: ") for line in duty.journal()), "the reload", 10)
    assert duty.node.show("necroscope.service", "NRestarts") == "0"


def test_an_incident_is_a_verdict_in_the_journal_and_an_alert(duty: Duty) -> None:
    time.sleep(20.0)  # quiet time to compare with
    (duty.folder / "go").touch()
    time.sleep(6.5)
    (duty.folder / "go").unlink()
    duty.log.write(
        "ena 0000:00:06.0 eth7: TX q 1 is paused for too long (threshold 5000000). usecs since napi 6123456. "
        f"napi scheduled: 1. napi CPU: {CORE}. msecs since interrupt: 6123"
    )
    said = lambda: [line for line in duty.journal() if "root cause: " in line["MESSAGE"]]  # noqa: E731
    # On a machine where everything waits, the first answer may be none; the one 30 s later replaces it.
    _wait(lambda: bool(said()), "a verdict", 60)
    (verdict, *_) = said()
    assert verdict["PRIORITY"] == "3", verdict["MESSAGE"]
    assert verdict["MESSAGE"].startswith("verdict: nic-tx-timeout of eth7 at ")
    assert "root cause: unit agent.service: " in verdict["MESSAGE"]
    pushed = lambda: [a for a in duty.alerts() if a["labels"]["alertname"] == "NecroscopeVerdict"]  # noqa: E731
    _wait(lambda: bool(pushed()), "the pushed alert", 10)
    named = lambda: [a["labels"] for a in pushed() if a["labels"].get("subject") == "agent.service"]  # noqa: E731
    _wait(lambda: bool(named()), "the alert that names the unit", 10)
    assert named()[0]["zone"] == "eu-1a"
    _wait(lambda: _fired(duty, "NecroscopeExplained", subject="agent.service") == "firing", "the rule's alert", 20)


def test_a_leaking_unit_is_named_by_an_alert_that_ends_when_it_is_stopped(duty: Duty) -> None:
    """Zombies are named as often as a two-hundredth of a core allows: the patience is for nodes with many others."""
    duty.node.add_unit("leaky.service", leaky_unit())
    growing = lambda: _fired(duty, "NecroscopeZombiesGrowing", owner="leaky.service")  # noqa: E731
    _wait(lambda: growing() == "firing", "the alert", 200)
    looping = lambda: _fired(duty, "NecroscopeUnitCrashLooping", unit="leaky.service")  # noqa: E731
    _wait(lambda: looping() == "firing", "the other alert", 60)
    duty.node.stop_unit("leaky.service")
    _wait(lambda: growing() == "resolved", "its end", 200)
    _wait(lambda: looping() == "resolved", "the other's end", 120)


def test_scrapes_are_quick_and_the_counters_are_there(duty: Duty) -> None:
    times = get(f"{duty.prometheus}/api/v1/query", duty.within, query="max_over_time(scrape_duration_seconds[5m])")
    assert float(times["data"]["result"][0]["value"][1]) < 0.5
    found = get(f"{duty.prometheus}/api/v1/query", duty.within, query="scrape_samples_scraped")
    assert 50 < float(found["data"]["result"][0]["value"][1]) <= 300


def _fired(duty: Duty, name: str, **labels: str) -> str:
    """How the alert stands now, for the webhook: firing, resolved, or empty where it never came."""
    wanted = {"alertname": name, **labels}
    found = [one["status"] for one in duty.alerts() if wanted.items() <= one["labels"].items()]
    return found[-1] if found else ""
