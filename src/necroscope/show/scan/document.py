"""Values -> JSON documents of the contract (docs/json.md). Names and types are stable; fields may be added."""

from __future__ import annotations

from typing import Any

from necroscope.clock import iso
from necroscope.show.plain import valid
from necroscope.vocabulary.model import Census, Family, Finding, Pin, ScanReport


def scan_document(report: ScanReport) -> dict[str, Any]:
    """`necroscope.scan/1`."""
    host = report.host
    memory = _memory(report.census) if report.census else None
    document = {
        "schema": "necroscope.scan/1",
        "at": iso(report.at_ns),
        "window_s": round(report.window_s, 3),
        "captured": report.captured,
        "host": {"name": host.name, "kernel": host.kernel, "boot_id": host.boot_id, "cpus": host.cpus},
        "cgroups": {"mode": report.census.mode if report.census else None, "memory": memory},
        "findings": [_finding(finding) for finding in report.diagnosis.findings],
        "skipped": [{"rule": rule.rule, "missing": list(rule.missing)} for rule in report.diagnosis.skipped],
        "unavailable": [{"sensor": line.sensor, "reason": line.reason, "hint": line.hint} for line in report.unseen],
        "cost": {
            "wall_s": round(report.cost.wall_s, 3),
            "cpu_s": round(report.cost.cpu_s, 3),
            "kernel_s": round(report.cost.kernel_s, 3),
            "rss_bytes": report.cost.rss_bytes,
        },
    }
    safe: dict[str, Any] = valid(document)
    return safe


def _memory(census: Census) -> dict[str, Any]:
    return {
        "tracked": census.tracked,
        "live": census.live,
        "zombies": census.zombies,
        "counted_by": census.counted_by,
        "growth_per_hour": None if census.growth_per_hour is None else round(census.growth_per_hour, 1),
        "growth_basis": census.growth_basis,
        "measured_born": census.measured_born,
        "measured_s": None if census.measured_s is None else round(census.measured_s, 3),
        "leaked_directories": census.leaked_directories,
        "leaked_families": [
            {"pattern": family.pattern, "directories": family.directories, "examples": list(family.examples)}
            for family in census.leaked_families
        ],
        "by_parent": [{"path": row.path, "zombies": row.zombies} for row in census.by_parent],
        "families": [_family(family) for family in census.families],
        "pinned_by": [{"kind": pin.kind, "bytes": pin.bytes} for pin in census.pinned_by],
        "host_wide": census.host_wide,
        "partial": census.partial,
    }


def _family(family: Family) -> dict[str, Any]:
    return {
        "pattern": family.pattern,
        "parent": family.parent,
        "zombies": family.zombies,
        "examples": list(family.examples),
        "pins": [_pin(pin) for pin in family.pins],
        "oldest_age_s": family.oldest_age_s,
        "newest_age_s": family.newest_age_s,
        "born_last_hour": family.born_last_hour,
        "repeated": [{"path": path, "zombies": count} for path, count in family.repeated],
        "newest": list(family.newest),
    }


def _pin(pin: Pin) -> dict[str, Any]:
    return {"kind": pin.kind, "bytes": pin.bytes, "files": list(pin.files)}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "severity": finding.severity,
        "title": finding.title,
        "subject": {"kind": finding.subject.kind, "name": finding.subject.name},
        "evidence": [
            {"text": line.text, "value": line.value, "unit": line.unit, "source": line.source}
            for line in finding.evidence
        ],
        "remedies": list(finding.remedies),
    }
