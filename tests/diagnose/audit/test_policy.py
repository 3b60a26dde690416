"""What a policy allows, and what is overdue."""

from __future__ import annotations

from datetime import date

import pytest

from necroscope.config import CrashLoopLimits
from necroscope.diagnose.audit import judge_all, roles_of
from necroscope.diagnose.audit.policy import breaches, parse_policy, stale
from necroscope.errors import BadInput
from necroscope.show.audit.written import policy_toml
from necroscope.vocabulary.conclusions.audit import Audited
from stage.workloads import facts, resting, running

TODAY = date(2026, 6, 1)
HEAD = 'schema = "necroscope.policy/1"\n'


def rule(name: str, owner: str = "sre", reason: str = "metrics", review: str = "2026-12-31") -> str:
    return f'[[agent]]\nname = "{name}"\nowner = "{owner}"\nreason = "{reason}"\nreview = {review}\n'


def node() -> tuple[Audited, ...]:
    units = facts(running("datadog-agent.service"), running("dbus.service"), resting("falco.service"))
    return judge_all(units, roles_of(), CrashLoopLimits())[0]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("", [("not-allowed", "datadog-agent.service")]),
        (rule("datadog-*"), []),
        (rule("datadog-agent.service", review="2026-06-01"), []),
        (rule("datadog-agent.service", review="2026-05-31"), [("overdue", "datadog-agent.service")]),
        (rule("datadog-agent.service", owner=""), [("incomplete", "datadog-agent.service")]),
    ],
)
def test_breaches(rules: str, expected: list[tuple[str, str]]) -> None:
    """The system itself, and what does not run, needs no rule."""
    found = breaches(parse_policy(HEAD + rules, "p"), node(), TODAY)
    assert [(one.kind, one.subject.name) for one in found] == expected


def test_rules_that_match_nothing_are_told() -> None:
    assert stale(parse_policy(HEAD + rule("gone.service") + rule("dbus.service"), "p"), node()) == ("gone.service",)


def test_a_written_policy_can_be_read_and_allows_nothing_without_an_owner() -> None:
    written = policy_toml(node(), date(2026, 12, 1))
    found = breaches(parse_policy(written, "p"), node(), TODAY)
    assert [one.kind for one in found] == ["incomplete"]
    filled = written.replace('owner = ""', 'owner = "sre"').replace('reason = ""', 'reason = "r"')
    assert breaches(parse_policy(filled, "p"), node(), TODAY) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no toml",
        HEAD + rule("x", review='"soon"'),
        HEAD + rule("x", review="2026-01-01T00:00:00"),
        HEAD + rule("x") + "colour = 1\n",
        HEAD + rule(""),
        HEAD + rule("x") + 'kind = "pod"\n',
        HEAD + "agent = 3\n",
        HEAD + "agent = [3]\n",
    ],
)
def test_a_broken_policy_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_policy(text, "p")
