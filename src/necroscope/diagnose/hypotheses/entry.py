"""One entry of a catalogue's file: which fields each sort of hypothesis has, and what they hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from necroscope.diagnose.hypotheses import values
from necroscope.diagnose.hypotheses.hypothesis import Hypothesis, Sort
from necroscope.diagnose.hypotheses.values import Broken, Wrong

_ID = re.compile(r"[a-z][a-z0-9-]{1,39}")
_Field = Callable[[str, Any, Wrong], Any]


def _id(key: str, value: Any, wrong: Wrong) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise wrong(key, "an id is of small letters, digits and hyphens, at most 40")
    return value


_COMMON: dict[str, _Field] = {
    "id": _id,
    "title": values.text,
    "expensive": values.text,
    "references": values.texts,
    "functions": values.names,
    "remedies": values.remedies,
    "same": values.texts,
}
MECHANISM: dict[str, _Field] = _COMMON | {
    "leaves": values.names,
    "within": values.names,
    "without": values.names,
    "beside": values.names,
    "least_own": values.part,
    "least_share": values.part,
    "priority": values.priority,
    "role": values.one_of("culprit", "walker", "kernel"),
    "grows": values.one_of("", "zombies", "directories"),
    "needs_kernel_time": values.flag,
    "nameless": values.one_of("", "user", "kernel"),
    "storm": values.storm,
    "ordered_by": values.ordered_by,
    "confirm": values.checks,
    "refute": values.checks,
}
RIVAL: dict[str, _Field] = _COMMON | {
    "measure": values.one_of("samples", "modes", "rise", "drop", "others", "events"),
    "own_work": values.names,
    "modes": values.modes,
    "fact": values.fact,
    "facts": values.facts,
    "scale": values.number,
    "least_before": values.number,
    "says": values.sentence,
    "untested": values.text,
    "rate": values.fact,
    "rate_of": values.text,
    "cause": values.flag,
    "noticed_only": values.flag,
}
"""Fields of each sort, and what checks them."""
_NEEDED: dict[Sort, tuple[str, ...]] = {
    "mechanism": ("id", "title", "expensive", "references"),
    "rival": ("id", "title", "measure", "says"),
}
_SHOWN_BY = ("functions", "leaves", "storm", "nameless")
_MEASURED_BY = {"samples": "functions", "modes": "modes", "rise": "fact", "drop": "fact", "events": "facts"}


def hypothesis(table: dict[str, Any], sort: Sort, number: int, source: str) -> Hypothesis:
    """The hypothesis of an entry; `Broken` where it is not right."""

    def wrong(key: str, message: str) -> Broken:
        return Broken(f"{table.get('id', 'an entry')}: {message}", f"{sort}s", number, key.partition(".")[0])

    known = MECHANISM if sort == "mechanism" else RIVAL
    for key in table:
        if key not in known:
            raise wrong(key, f"{key!r} is unknown; keys are {', '.join(sorted(known))}")
    for key in _NEEDED[sort]:
        if not table.get(key):
            raise wrong(key, f"{key} is missing")
    if sort == "rival" and not table.get(needed := _MEASURED_BY.get(str(table["measure"]), "id")):
        raise wrong(needed, f"{needed} is missing: it is what {table['measure']} measures")
    if sort == "mechanism" and not any(table.get(key) for key in _SHOWN_BY):
        raise wrong("functions", f"{', '.join(_SHOWN_BY[:-1])} or {_SHOWN_BY[-1]} must be there: nothing could show it")
    made = {("advice" if key == "remedies" else key): known[key](key, value, wrong) for key, value in table.items()}
    return Hypothesis(sort=sort, source=source, **made)
