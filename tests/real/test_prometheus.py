"""Rules and dashboard against a real Prometheus: every expression is one, names what there is, and is answered."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import promql_parser
import pytest

from necroscope import clock
from necroscope.record.metrics.declared import METRICS, NODE
from necroscope.record.metrics.metrics import Metrics
from necroscope.record.metrics.server import MetricsServer
from necroscope.record.recorder import RecorderStatus
from necroscope.sense.sensor import Look
from necroscope.show.metrics.text import CONTENT_TYPE, text
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import Reading, Sample, UnitState
from stage.processes import wait_for
from stage.prometheus import get, needs, prometheus

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy/prometheus/rules.yaml"
DASHBOARD = json.loads((ROOT / "deploy/grafana/necroscope.json").read_text("utf-8"))
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
_NAME = re.compile(r"\b(?:instance:)?necroscope_[a-z0-9_:]+")


def _rules() -> list[str]:
    """The expressions of the rules, as promtool understands them."""
    lines = RULES.read_text("utf-8").splitlines()
    found, at = [], 0
    while at < len(lines):
        if (begin := re.match(r"( +)expr: (.*)", lines[at])) is not None:
            parts = [] if begin[2] == ">-" else [begin[2]]
            while begin[2] == ">-" and lines[at + 1].startswith(begin[1] + "  "):
                at += 1
                parts.append(lines[at].strip())
            found.append(" ".join(parts))
        at += 1
    return found


def _shown(expression: str) -> str:
    return expression.replace("$instance", ".*")


@pytest.mark.parametrize("expression", [*EXPRESSIONS, *_rules()])
def test_every_expression_is_one_and_names_what_there_is(expression: str) -> None:
    promql_parser.parse(_shown(expression))
    recorded = set(re.findall(r"record: (\S+)", RULES.read_text("utf-8")))
    names = set(_NAME.findall(expression))
    assert names or expression.startswith("up")
    assert names <= {one.name for one in METRICS} | {NODE} | recorded


def test_the_dashboard_is_as_it_is_made_and_shows_what_it_promises() -> None:
    made = subprocess.run([sys.executable, ROOT / "tools/dashboard"], capture_output=True, text=True, check=True)
    assert json.loads(made.stdout) == DASHBOARD
    titles = " ".join(panel["title"] for panel in DASHBOARD["panels"])
    for promised in ("by zone", "Reclaim", "Throttling", "Zombie", "Restarts", "Success"):
        assert promised in titles


@needs("promtool")
def test_every_alert_fires_and_clears() -> None:
    ran = subprocess.run(
        ["promtool", "test", "rules", "rules-test.yaml"], cwd=RULES.parent, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    said = (RULES.parent / "rules-test.yaml").read_text("utf-8")
    for alert in re.findall(r"alert: (\S+)", RULES.read_text("utf-8")):
        assert re.search(rf"alertname: {alert}\n +exp_alerts:", said), f"{alert} fires in no test"
        assert re.search(rf"alertname: {alert}}}", said), f"{alert} is never seen not to fire"


def _feed(metrics: Metrics, turn: int) -> None:
    """A second of a sick node."""
    at_ns = clock.now().realtime_ns
    signals = [
        *(Sample(f"vmstat_{name}", 100.0 * turn) for name in ("pgmajfault", "pgsteal_direct", "pgsteal_kswapd")),
        Sample("vmstat_allocstall", 50.0 * turn, ("normal",)),
    ]
    looks = {
        "vmstat": Reading(tuple(signals)),
        "throttle": Reading((Sample("throttle_throttled_seconds", 0.2 * turn, ("/a.slice/b.service",)),)),
        "zombie-names": Reading((Sample("memcg_zombies_family", 4.0 * turn, ("/system.slice/leaky.service",)),)),
        "memcg": Reading((Sample("memcg_zombies", 200 + 4.0 * turn),)),
        "cpu": Reading((Sample("cpu_time_seconds", float(turn), ("3", "system")),)),
        "systemd": Reading((), (UnitState("leaky.service", "failed", "", "", 1, successes=1, failures=3),)),
    }
    metrics.looked([Look(sensor, at_ns, reading, 0.0) for sensor, reading in looks.items()])
    metrics.measured([Sample("recorder_cpu_seconds", 0.01 * turn, ("recorder",))])
    metrics.stands(RecorderStatus(1.0, turn, 1.0, 0, 0, 0.0, 1, 1, 1.0, None, ()))
    metrics.happened(
        [
            Event(at_ns, "unit-restart", "systemd", "leaky.service", count=1),
            Event(at_ns, "nic-reset", "kmsg", "eth0", device="eth0", reason="15"),
            Event(at_ns, "job-failed", "mark", "7", "job 7 failed"),
        ]
    )


@needs("prometheus")
def test_every_panel_is_answered_by_a_real_prometheus(tmp_path: Path) -> None:
    metrics = Metrics({"zone": "eu-1a"})
    server = MetricsServer("127.0.0.1:0", lambda: text(metrics.families()), CONTENT_TYPE)
    try:
        with prometheus(tmp_path / "prometheus", server.address, RULES.read_text("utf-8")) as address:
            for turn in range(8):
                _feed(metrics, turn)
                time.sleep(1.0)
            wait_for(lambda: bool(_query(address, "necroscope_build_info")), "a scrape", 20.0)
            answers = {one: _query(address, _shown(one)) for one in EXPRESSIONS}
            loaded = get(f"{address}/api/v1/rules")["data"]["groups"]
    finally:
        server.close()
    silent = [one for one, found in answers.items() if not found]
    assert silent == ['sum by (cause, subject) (necroscope_verdicts_total{verdict="explained",instance=~"$instance"})']
    zone = next(found for one, found in answers.items() if "zone" in one)
    assert (zone[0]["metric"], float(zone[0]["value"][1])) == ({"zone": "eu-1a"}, 8.0)
    assert [rule["health"] for group in loaded for rule in group["rules"] if rule["health"] == "err"] == []


def _query(address: str, expression: str) -> list[Any]:
    answer = get(f"{address}/api/v1/query", query=expression)
    assert answer["status"] == "success", expression
    found: list[Any] = answer["data"]["result"]
    return found
