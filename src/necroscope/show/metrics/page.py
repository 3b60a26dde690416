"""docs/metrics.md, made from the declarations."""

from __future__ import annotations

from collections.abc import Iterable

from necroscope.show.metrics.metric import Metric


def table(metrics: Iterable[Metric]) -> str:
    """One row for each metric."""
    lines = ["| metric | kind | labels | series, at most | meaning |", "|---|---|---|---|---|"]
    for one in sorted(metrics, key=lambda metric: metric.name):
        labels = ", ".join(f"`{label}`" for label in one.labels)
        most = one.most + 1 if one.labels and one.most > 1 else one.most
        lines.append(f"| `{one.name}` | {one.kind} | {labels} | {most} | {one.help} |")
    return "\n".join([*lines, ""])
