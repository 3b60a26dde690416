"""What Prometheus is told: a metric is declared once, most of them by the signal that they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from necroscope.vocabulary.model import Signal

PREFIX = "necroscope_"
OTHER = "other"
"""The label of everything beyond the most that a metric may have."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A number for Prometheus; counters start at zero with the recorder. At most `most` values of its labels are told
    apart; `signal` is what it is made of, empty where it is counted from events."""

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    labels: tuple[str, ...] = ()
    most: int = 1
    signal: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """One value of a metric; `labels` in the order of the metric's."""

    labels: tuple[str, ...]
    value: float


Family = tuple[Metric, Sequence[Series]]
"""A metric with its values."""


def from_signal(signal: Signal, labels: tuple[str, ...] | None = None, most: int = 1) -> Metric:
    """The metric of a signal: `necroscope_`, the signal's own name, and `_total` for a counter. `labels` None: those of
    the signal; fewer: summed over the others."""
    suffix = "_total" if signal.kind == "counter" and not signal.name.endswith("_total") else ""
    kept = signal.labels if labels is None else labels
    help_ = signal.help if signal.help.endswith(".") else f"{signal.help}."
    return Metric(f"{PREFIX}{signal.name}{suffix}", signal.kind, help_, kept, most, signal.name)


def counted(name: str, help_: str, labels: tuple[str, ...] = (), most: int = 1) -> Metric:
    """A counter of the recorder's own."""
    return Metric(f"{PREFIX}{name}_total", "counter", help_, labels, most)


def measured(name: str, help_: str, labels: tuple[str, ...] = (), most: int = 1) -> Metric:
    """A gauge of the recorder's own."""
    return Metric(f"{PREFIX}{name}", "gauge", help_, labels, most)
