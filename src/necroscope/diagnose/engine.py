"""Facts in, diagnosis out: every rule asked once, the worst findings first. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from necroscope.diagnose.rule import Rule, rule
from necroscope.diagnose.rules.cpu_quota import cpu_quota
from necroscope.diagnose.rules.crash_loop import crash_looping_containers, crash_looping_processes, crash_looping_units
from necroscope.diagnose.rules.kernel_log import kernel_log
from necroscope.diagnose.rules.leaked_directories import leaked_directories
from necroscope.diagnose.rules.nic_resets import nic_resets
from necroscope.diagnose.rules.saturated_core import saturated_core
from necroscope.diagnose.rules.zombie_memcg import zombie_memcg
from necroscope.vocabulary.model import Diagnosis, Finding, Severity, Skipped


def rules(kinds: Iterable[str]) -> tuple[Rule, ...]:
    """Every rule, for these kinds of symptoms. A new one is added here, and its findings to docs/findings.md."""
    return (
        rule(zombie_memcg, "zombie-memcg"),
        rule(crash_looping_units, "crash-loop"),
        rule(crash_looping_containers, "crash-loop"),
        rule(crash_looping_processes, "crash-loop"),
        rule(leaked_directories, "leaked-directories"),
        rule(kernel_log, *kinds),
        rule(nic_resets, "nic-driver-resets"),
        rule(saturated_core, "saturated-core"),
        rule(cpu_quota, "cpu-quota"),
    )


_ORDER: dict[Severity, int] = {"critical": 0, "warning": 1, "info": 2}


def diagnose(facts: Mapping[type, object], asked: Iterable[Rule]) -> Diagnosis:
    """Ask these rules; the worst findings come first, otherwise in the order of the rules."""
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    for each in asked:
        missing = each.missing(facts)
        if missing:
            skipped.append(Skipped(each.name, missing))
        else:
            findings.extend(each.ask(facts))
    findings.sort(key=lambda finding: _ORDER[finding.severity])
    return Diagnosis(tuple(findings), tuple(skipped))
