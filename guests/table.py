"""What runs came to, as the table of docs/support.md."""

from __future__ import annotations

from collections.abc import Iterable

from guests.guest import Outcome


def table(runs: Iterable[Outcome]) -> str:
    """A row for each guest, a column for each job: whether it was right, and how long the guest lived."""
    rows: dict[str, dict[str, Outcome]] = {}
    for one in runs:
        rows.setdefault(one.machine.name, {})[one.job] = one
    jobs = list(dict.fromkeys(job for row in rows.values() for job in row))
    head = ["guest", "kernel", "cgroups", "date", *(f"`{job}`" for job in jobs)]
    lines = [head, ["---"] * len(head), *(_row(name, row, jobs) for name, row in rows.items())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row(name: str, row: dict[str, Outcome], jobs: list[str]) -> list[str]:
    some = next(iter(row.values()))
    return [f"`{name}`", some.kernel, some.machine.cgroups, some.date, *(_cell(row.get(job)) for job in jobs)]


def _cell(run: Outcome | None) -> str:
    if run is None:
        return "not run"
    return f"{'right' if run.good else 'WRONG'}, {run.seconds:.0f} s"
