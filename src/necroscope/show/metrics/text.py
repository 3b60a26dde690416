"""Metrics in Prometheus's text format, version 0.0.4.

# HELP NAME what it means
# TYPE NAME counter
NAME{label="value"} 1

Own code instead of `prometheus-client`: that is 5,300 lines and 1.3 MB more memory in every recorder for these forty
lines, and its registry would be a second set of counters, declared a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite, isnan

from necroscope.show.metrics.metric import Family, Metric, Series

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_MOST = 200


def text(families: Iterable[Family]) -> str:
    """All of them; a metric without a value is left out."""
    return "".join(f"{line}\n" for metric, series in families for line in _lines(metric, list(series)))


def _lines(metric: Metric, series: list[Series]) -> Iterator[str]:
    if not series:
        return
    yield f"# HELP {metric.name} {_help(metric.help)}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for one in series:
        yield f"{metric.name}{_labels(metric.labels, one.labels)} {_number(one.value)}"


def _labels(names: tuple[str, ...], values: tuple[str, ...]) -> str:
    if not names:
        return ""
    return "{" + ",".join(f'{name}="{_value(value)}"' for name, value in zip(names, values, strict=True)) + "}"


def _value(text_: str) -> str:
    """A label's value, bounded; what is no Unicode is written out."""
    shown = text_ if len(text_) <= _MOST else f"{text_[: _MOST // 2]}…{text_[-_MOST // 2 + 1 :]}"
    shown = shown.encode("utf-8", "backslashreplace").decode()
    return shown.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _help(text_: str) -> str:
    return text_.replace("\\", "\\\\").replace("\n", " ")


def _number(value: float) -> str:
    if not isfinite(value):
        return "NaN" if isnan(value) else "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(round(value, 9))
