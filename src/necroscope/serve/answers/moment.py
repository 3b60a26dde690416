"""The inside of a moment: rows by bins of milliseconds."""

from __future__ import annotations

from typing import Any

import numpy as np

from necroscope.clock import NS
from necroscope.errors import BadInput
from necroscope.query.profile.sifted import wanted_stacks
from necroscope.query.samples.moment import By, Moment, Row, moment
from necroscope.query.sealed import again
from necroscope.query.tiles import around
from necroscope.serve.answers.answer import Answer, columns
from necroscope.serve.asked import Asked
from necroscope.serve.opened import Opened

LONGEST_NS = 600 * NS
ROWS: tuple[By, ...] = ("core", "process", "thread", "cgroup")
FULL, UNKNOWN = 250, 255


def inside(opened: Opened, asked: Asked) -> Answer:
    """Cores that were busy, by row and bin, as bytes of the highest value (one core at least)."""
    select = asked.select()
    if select.window[1] - select.window[0] > LONGEST_NS:
        raise BadInput("The window is longer than ten minutes.", "zoom in: this view shows milliseconds")
    by: By = next(one for one in ROWS if one == asked["rows"])
    search = wanted_stacks(asked.text("search"))
    notes: list[str] = []
    made = again(
        lambda: moment(
            opened.store.snapshot(around(select.window)),
            select,
            by,
            asked.integer("columns", 1, 4000),
            () if select.cpus or select.pids or select.cgroups else _cpus(opened, asked),
            wanted_stacks(asked.text("include"), asked.text("exclude")),
            search,
            notes,
        )
    )
    return _columns(made, notes)


def _cpus(opened: Opened, asked: Asked) -> tuple[int, ...]:
    found, _ = opened.cores.of(opened.store.snapshot(around(asked.window)), asked.window, 0.5)
    return tuple(sorted({cpu for part in found.values() for cpu in part.cpus}))


def _columns(made: Moment, notes: list[str]) -> Answer:
    known = made.cores[~np.isnan(made.cores)]
    top = max(1.0, float(known.max(initial=0.0)))
    head: dict[str, Any] = {
        "schema": "necroscope.moment/1",
        "from_ns": made.from_ns,
        "bin_ns": made.bin_ns,
        "columns": made.bins,
        "by": made.by,
        "rows": [_row(one) for one in made.rows],
        "left_out": made.left_out,
        "samples": made.samples,
        "top": top,
        "full": FULL,
        "unknown": UNKNOWN,
        "notes": notes[:20],
    }
    arrays = {"cores": _bytes(made.cores, top)}
    if made.match is not None:
        arrays["match"] = _bytes(made.match, top)
    return columns(head, arrays)


def _row(row: Row) -> dict[str, Any]:
    told: dict[str, Any] = {"label": row.label[:300]}
    if row.cpu >= 0:
        told["cpu"] = row.cpu
    if row.pid >= 0:
        told["pid"] = row.pid
    if row.tid >= 0:
        told["tid"] = row.tid
    if row.cgroup:
        told["cgroup"] = row.cgroup
    return told


def _bytes(cores: Any, top: float) -> Any:
    """A little is never nothing: what is above zero has a byte above zero."""
    level = np.ceil(np.clip(np.nan_to_num(cores) / top, 0.0, 1.0) * FULL - 1e-6)
    return np.where(np.isnan(cores), UNKNOWN, level).astype(np.uint8)
