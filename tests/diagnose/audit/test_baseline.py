"""How a node differs from its golden image."""

from __future__ import annotations

import pytest

from necroscope.diagnose.audit.baseline import deviations, listed, parse_baseline
from necroscope.errors import BadInput
from necroscope.show.audit.written import baseline_toml
from necroscope.vocabulary.conclusions.audit import Workload
from stage.workloads import container, resting, running

GOLD = (
    running("kubelet.service"),
    resting("ecs.service", unit_file_state="disabled"),
    resting("dbus.service", unit_file_state="static"),
    running("run-1.service", unit_file_state="transient"),
)


def differences(*now: Workload) -> list[tuple[str, str]]:
    text = baseline_toml((one.kind, one.name, one.state) for one in listed(GOLD))
    return [(one.kind, one.subject.name) for one in deviations(parse_baseline(text, "gold"), now)]


def test_the_same_node_does_not_differ() -> None:
    assert differences(*GOLD[:3]) == []


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ([GOLD[0], running("ecs.service"), GOLD[2]], [("enabled", "ecs.service")]),
        ([resting("kubelet.service", unit_file_state="disabled"), *GOLD[1:3]], [("disabled", "kubelet.service")]),
        (list(GOLD[1:3]), [("missing", "kubelet.service")]),
        ([*GOLD[:3], running("miner.service")], [("added", "miner.service")]),
        ([*GOLD[:3], resting("unused.service", unit_file_state="disabled")], []),
        ([*GOLD[:3], container("agent", "team/agent:1")], [("added", "agent")]),
        ([GOLD[0], GOLD[2]], []),
    ],
)
def test_differences(now: list[Workload], expected: list[tuple[str, str]]) -> None:
    assert differences(*now) == expected


def test_names_survive_whatever_they_hold() -> None:
    hostile = running('a"b\\c\x1b[31m\udcff.service')
    text = baseline_toml((one.kind, one.name, one.state) for one in listed([hostile]))
    (read,) = parse_baseline(text, "gold")
    assert read.name == 'a"b\\c\\x1b[31m\\xff.service'


@pytest.mark.parametrize("text", ["", "no toml", 'schema = "necroscope.baseline/1"\n[[unit]]\nname = 3\nstate = ""\n'])
def test_a_broken_baseline_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_baseline(text, "gold")
