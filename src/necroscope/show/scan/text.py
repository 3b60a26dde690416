"""A scan as a person reads it: the verdict first, then each finding, what was counted, and what could not be seen.

Text of the node goes in as `Text`, never as markup, and unprintable characters are written out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from necroscope.quantity import count, plural, size, span
from necroscope.show.plain import plain, shortened
from necroscope.vocabulary.model import Census, Family, Finding, Pin, ScanReport, Severity

_STYLES: dict[Severity, str] = {"critical": "bold red", "warning": "bold yellow", "info": "bold cyan"}
_SIGNS: dict[Severity, str] = {"critical": "✖", "warning": "▲", "info": "·"}
_METHODS = {
    "kernel-walk": "a walk of kernel memory",
    "cgroup-stat": "cgroup.stat",
    "proc-cgroups": "/proc/cgroups minus directories",
}
_MAX_ROWS = 5


def print_scan(report: ScanReport, console: Console) -> None:
    """The whole report: what is wrong comes before what was counted."""
    _print_head(report, console)
    for finding in report.diagnosis.findings:
        _print_finding(finding, console)
    if report.census is not None:
        _print_census(report.census, console)
    _print_unseen(report, console)


def _print_head(report: ScanReport, console: Console) -> None:
    host = report.host
    facts = [host.name, f"Linux {host.kernel}"]
    if host.cpus is not None:
        facts.append(plural(host.cpus, "CPU"))
    if host.uptime_s is not None:
        facts.append(f"up {span(host.uptime_s)}")
    if report.captured:
        facts.append("a captured host")
    console.print(Text(plain(" · ".join(facts)), style="bold"))
    cost = report.cost
    spent = f"  ({cost.wall_s:.2f} s, {cost.cpu_s:.2f} s CPU, {size(cost.rss_bytes)})"
    console.print(Text.assemble(_verdict(report), (spent, "dim")))


def _verdict(report: ScanReport) -> Text:
    findings = report.diagnosis.findings
    totals = [(level, sum(finding.severity == level for finding in findings)) for level in _STYLES]
    worst = next(((level, number) for level, number in totals if number and level != "info"), None)
    if worst is None:
        if report.inconclusive:
            blind = " and ".join(report.blind)
            return Text(f"inconclusive: {blind}; nothing else was found wrong", style="bold yellow")
        skipped = len(report.diagnosis.skipped)
        if skipped:
            return Text(f"nothing wrong found, but {plural(skipped, 'check')} could not be made", style="bold green")
        return Text("healthy: nothing wrong found", style="bold green")
    words = {"critical": "critical", "warning": "warning", "info": "note"}
    said = ", ".join(plural(n, words[level]) if level != "critical" else f"{n} critical" for level, n in totals if n)
    return Text(f"sick: {said}", style=_STYLES[worst[0]])


# -- the census -------------------------------------------------------------------------------------------


def _print_census(census: Census, console: Console) -> None:
    console.print()
    method = _METHODS.get(census.counted_by, census.counted_by)
    console.print(Text.assemble(("Memory cgroups", "bold"), (f"  cgroup {census.mode}, counted by {method}", "dim")))
    numbers = [f"{_known(census.tracked)} tracked", f"{_known(census.live)} live"]
    zombies = Text(f"{_known(census.zombies)} zombies", style="bold" if census.zombies else "")
    console.print(_indented(Text.assemble(" · ".join(numbers), " · ", zombies, _growth(census))))
    if census.host_wide:
        console.print(_indented(Text("the counts are the whole host's, seen from inside a namespace", style="yellow")))
    for family in census.families[:_MAX_ROWS]:
        console.print(_indented(_family_line(family, console.width - 2)))
    if len(census.families) > _MAX_ROWS:
        rest = census.families[_MAX_ROWS:]
        line = f"{sum(family.zombies for family in rest):>9,}  in {plural(len(rest), 'more family', 'more families')}"
        console.print(_indented(Text(line, style="dim")))
    if not census.families:
        for parent in census.by_parent[:_MAX_ROWS]:
            console.print(_indented(Text(f"{parent.zombies:>9,}  below {plain(parent.path)}")))
    if census.pinned_by and not census.families:
        console.print(_indented(Text(f"pinned by {_pins(census.pinned_by)}")))
    if census.leaked_directories:
        console.print(_indented(Text(f"{count(census.leaked_directories)} directories without a process, not removed")))


def _growth(census: Census) -> str:
    if census.growth_per_hour is None:
        return ""
    rate = count(census.growth_per_hour)
    if census.growth_basis == "measured":
        return f" · growing by {rate} an hour, measured"
    return f" · {rate} an hour {'created recently' if census.growth_basis == 'ages' else 'on average since boot'}"


def _family_line(family: Family, width: int) -> Text:
    ages = ""
    if family.newest_age_s is not None and family.oldest_age_s is not None:
        ages = f"{span(family.newest_age_s)} to {span(family.oldest_age_s)} old"
    line = Text(f"{family.zombies:>9,}  ")
    line.append(plain(shortened(family.pattern, max(24, width - 12))), style="bold")
    for extra in (_pins(family.pins), ages):
        if extra:
            line.append(f"\n{'':11}{extra}", style="dim")
    for file in [file for pin in family.pins for file in pin.files][:2]:
        line.append(f"\n{'':11}{plain(shortened(file, max(24, width - 12)))}", style="dim")
    return line


def _pins(pins: Iterable[Pin]) -> str:
    return ", ".join(f"{pin.kind} {size(pin.bytes)}" for pin in pins)


def _known(number: int | None) -> str:
    return "unknown" if number is None else count(number)


# -- findings, and what was not seen -----------------------------------------------------------------------


def _print_finding(finding: Finding, console: Console) -> None:
    style = _STYLES[finding.severity]
    console.print()
    mark = f"{_SIGNS[finding.severity]} {finding.severity.upper()}"
    console.print(Text.assemble((mark, style), "  ", (finding.id, "bold")))
    console.print(_indented(Text(plain(finding.title), style="bold")))
    for evidence in finding.evidence:
        console.print(_bulleted("•", Text.assemble(plain(evidence.text), (f"  [{plain(evidence.source)}]", "dim"))))
    for remedy in finding.remedies:
        console.print(_bulleted("→", Text(plain(remedy), style="green")))


def _print_unseen(report: ScanReport, console: Console) -> None:
    lines = list(_unseen_lines(report))
    if not lines:
        return
    console.print()
    console.print(Text("Could not be seen", style="bold"))
    for line in lines:
        console.print(_bulleted("?", line))


def _unseen_lines(report: ScanReport) -> Iterator[Text]:
    for line in report.unseen:
        hint = f" ({plain(line.hint)})" if line.hint else ""
        yield Text.assemble((f"{line.sensor}: ", "bold"), plain(line.reason), (hint, "dim"))


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 2), expand=False)


def _bulleted(sign: str, text: Text) -> Padding:
    """A sign and its text; what does not fit in the line goes on below the text, not below the sign."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=1)
    grid.add_column(overflow="fold")
    grid.add_row(Text(sign, style=text.style or "dim"), text)
    return Padding(grid, (0, 0, 0, 4), expand=False)
