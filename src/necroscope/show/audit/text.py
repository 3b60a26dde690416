"""An audit as a person reads it: what needs somebody first and with its reasons, the rest in one line each or counted.

Text of the node goes in as `Text`, never as markup, and unprintable characters are written out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from necroscope.clock import iso
from necroscope.quantity import count, plural, share, size, span
from necroscope.show.plain import plain, shortened
from necroscope.vocabulary.conclusions.audit import Audited, AuditReport, Judgement, Workload
from necroscope.vocabulary.model import Evidence

_STYLES: dict[Judgement, str] = {
    "orphaned": "bold red",
    "failing": "bold yellow",
    "unknown": "bold cyan",
    "idle": "dim",
    "needed": "green",
}
_TOLD: tuple[Judgement, ...] = ("orphaned", "failing")
_LEAST_LEFT = 5
_UNKNOWN_MOST, _LINES = 12, 2


def print_audit(report: AuditReport, console: Console, every: bool = False) -> None:
    """The whole audit. `every`: also what is idle and what is needed, one line each."""
    _print_head(report, console)
    _print_owners(report, console)
    for one in report.audited:
        if one.judgement in _TOLD:
            _print_told(one, console)
    _print_leaks(report, console)
    _print_differences(report, console)
    unknown = [one for one in report.audited if one.judgement == "unknown"]
    _print_list("Unknown", unknown if every else unknown[:_UNKNOWN_MOST], len(unknown), console)
    for judgement in ("needed", "idle") if every else ():
        mine = [one for one in report.audited if one.judgement == judgement]
        _print_list(judgement.capitalize(), mine, len(mine), console)
    _print_unseen(report, console)


def _print_head(report: AuditReport, console: Console) -> None:
    facts, cost = report.facts, report.cost
    where = "an image's files, not booted" if facts.source == "image" else f"Linux {facts.host.kernel}"
    recorded = f" · recorded {span((facts.recorded[1] - facts.recorded[0]) / 1e9)}" if facts.recorded else ""
    console.print(Text(plain(f"{facts.host.name} · {where}{recorded} · {iso(facts.at_ns)}"), style="bold"))
    counted = Counter(one.judgement for one in report.audited)
    said = " · ".join(f"{counted[one]} {one}" for one in _STYLES if counted[one])
    if report.blind:
        verdict = Text("inconclusive: neither systemd nor a container engine could be asked", style="bold yellow")
    else:
        style = "bold red" if report.sick else "bold green"
        number = plural(len(report.audited), "unit or container", "units and containers")
        verdict = Text(f"{number}: {said}", style=style)
    console.print(Text.assemble(verdict, (f"  ({cost.wall_s:.2f} s)", "dim")))


def _print_owners(report: AuditReport, console: Console) -> None:
    words = {"owns": "owns this node", "set-up": "is set up here", "present": "is here, and was not set up"}
    for one in report.owners:
        because = "; ".join(plain(line.text) for line in one.because)
        console.print(_indented(Text.assemble((one.orchestrator, "bold"), f" {words[one.standing]}: {because}")))
    if not report.owners:
        console.print(_indented(Text("no orchestrator's agent was found", style="dim")))


def _print_told(one: Audited, console: Console) -> None:
    workload = one.workload
    console.print()
    title = f"  {one.title}" if one.title else ""
    head = Text.assemble((one.judgement.upper(), _STYLES[one.judgement]), "  ", (plain(workload.name), "bold"))
    console.print(head + Text(title, style="dim"))
    for reason in one.reasons:
        console.print(_bulleted("•", reason))
    for label, words in _facts(workload):
        console.print(_bulleted("·", Evidence(f"{label}: {words}", "")))


def _facts(workload: Workload) -> Iterator[tuple[str, str]]:
    if words := "; ".join(_why(workload)):
        yield "why it runs", words
    if words := "; ".join(_numbers(workload)):
        yield "runs and cost", words
    for line in workload.unit.last_lines[-_LINES:] if workload.unit else ():
        yield "log", line


def _why(workload: Workload) -> Iterator[str]:
    unit, container = workload.unit, workload.container
    if unit is not None:
        preset = f", preset {unit.preset}" if unit.preset else ""
        yield f"unit file {unit.unit_file_state or 'unknown'}{preset}"
        if by := (*unit.wanted_by, *unit.triggered_by):
            yield f"wanted by {', '.join(by[:4])}"
    if container is not None:
        yield f"image {container.image}, restart policy {container.restart_policy or 'none'}"
    if unit is not None and unit.fragment_path:
        shipped = f" of package {workload.package}" if workload.package else ", which no package ships"
        yield f"{unit.fragment_path}{shipped if workload.package or workload.program_package else ''}"
    if workload.program and workload.program_package and not workload.package:
        yield f"program {workload.program} of package {workload.program_package}"


def _numbers(workload: Workload) -> Iterator[str]:
    runs, costs = workload.runs, workload.costs
    if (rate := runs.success_rate) is not None:
        ends = plural((runs.successes or 0) + (runs.failures or 0), "end")
        yield f"{share(rate)} of the {ends} that were seen were successes"
    if runs.restarts_per_hour:
        yield f"{count(runs.restarts_per_hour)} restarts an hour over {span(runs.window_s or 0.0)}"
    elif runs.restarts:
        yield plural(runs.restarts, "restart")
    if costs.cpu_share is not None:
        yield f"{100 * costs.cpu_share:.2f} % of a core"
    if costs.memory_bytes is not None:
        yield size(costs.memory_bytes)
    if costs.cgroups_left:
        yield f"{plural(costs.cgroups_left, 'cgroup')} left behind"


def _print_leaks(report: AuditReport, console: Console) -> None:
    """Those that leave cgroups behind and are otherwise well."""
    for one in report.audited:
        left = one.workload.costs.cgroups_left or 0
        if one.judgement not in _TOLD and left >= _LEAST_LEFT:
            line = f"{plain(one.workload.name)} left {plural(left, 'cgroup')} behind, and is {one.judgement}"
            console.print()
            console.print(Text.assemble(("LEAKS", "bold yellow"), "  ", line))


def _print_differences(report: AuditReport, console: Console) -> None:
    differences = (
        ("Golden image", report.deviations, ("difference", "differences")),
        ("Policy", report.breaches, ("breach", "breaches")),
    )
    for title, rows, words in differences:
        if rows is None:
            continue
        console.print()
        console.print(Text(f"{title}: {plural(len(rows), *words)}", style="bold red" if rows else "bold green"))
        for row in rows:
            line = Text.assemble((plain(row.subject.name), "bold"), f"  {row.kind}: {plain(row.text)}")
            console.print(_indented(line))
    for pattern in report.stale:
        console.print(_indented(Text(f"the rule {plain(pattern)} matches nothing here", style="dim")))


def _print_list(title: str, rows: Iterable[Audited], number: int, console: Console) -> None:
    rows = list(rows)
    if not rows:
        return
    console.print()
    console.print(Text(f"{title} ({number})", style="bold"))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in rows:
        reason = one.reasons[0].text if one.reasons else ""
        table.add_row(Text(plain(shortened(one.workload.name, 34))), Text(plain(reason), style="dim"))
    console.print(_indented(table))
    if number > len(rows):
        console.print(_indented(Text(f"and {number - len(rows)} more; `--all` shows everything", style="dim")))


def _print_unseen(report: AuditReport, console: Console) -> None:
    if not report.facts.unseen:
        return
    console.print()
    console.print(Text("Could not be seen", style="bold"))
    for one in report.facts.unseen:
        hint = f" ({one.hint})" if one.hint else ""
        console.print(_bulleted("?", Evidence(f"{one.sensor}: {one.reason}{hint}", "")))


def _indented(body: Text | Table) -> Padding:
    return Padding(body, (0, 0, 0, 2), expand=False)


def _bulleted(sign: str, line: Evidence) -> Padding:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=1)
    grid.add_column(overflow="fold")
    source = (f"  [{plain(line.source)}]", "dim") if line.source else ("", "")
    grid.add_row(Text(sign, style="dim"), Text.assemble(plain(line.text), source))
    return Padding(grid, (0, 0, 0, 4), expand=False)
