"""A flame graph of some samples, alone or against others, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from necroscope.errors import BadInput
from necroscope.quantity import plural
from necroscope.query.coverage import profiled
from necroscope.query.events.landmarks import symptoms
from necroscope.query.profile.against import against, blocks
from necroscope.query.profile.baseline import AFTER_NS, BEFORE_NS, WITHIN_NS, baselines
from necroscope.query.profile.code_kind import CODE_KINDS, code_kind
from necroscope.query.profile.flame import SURE, Layout, layout
from necroscope.query.profile.profile import Profile, profile
from necroscope.query.profile.sifted import inverted, sifted, wanted_stacks
from necroscope.query.profile.tree import Tree, tree
from necroscope.query.samples.rolled import Detail
from necroscope.query.sealed import again
from necroscope.query.select import Select
from necroscope.query.stopping import wanted
from necroscope.serve.answers.answer import Answer, columns
from necroscope.serve.asked import Asked, window_of
from necroscope.serve.opened import Opened
from necroscope.store.read.reader import Store
from necroscope.vocabulary.event import Window

MOST_BOXES = 50_000
# Of hours, what is narrower than this share has nothing below it.
_NARROWEST = 2e-5
_HALF = 0.5
_NS = 1_000_000_000


def flame(opened: Opened, asked: Asked) -> Answer:
    """Boxes in preorder: edges, depth, parent, name, kind of code, cores now and before, chance."""
    made, compared = _read(opened.store, asked)
    keep = wanted_stacks(asked.text("include"), asked.text("exclude"))
    counts = sifted(made.counts, keep)
    if asked["inverted"] == "yes":
        counts = inverted(counts)
    narrowest = _NARROWEST if len(counts.stacks) > MOST_BOXES else 0.0
    stacks = tree(counts, by_task=asked["inverted"] != "yes", narrowest=narrowest)
    return _columns(layout(stacks, made.seconds, made.core_seconds, made.per_weight, 0.0, MOST_BOXES), made, compared)


def _read(store: Store, asked: Asked) -> tuple[Profile, str]:
    """The profile, and in words what it is compared with."""
    select = asked.select()
    given = asked["against"]
    if given == "none":
        return _profile(store, select, ()), ""
    if given == "usual":
        sampled, others = again(lambda: _usual(store, select.window))
        made = _profile(store, select, others, sampled)
        known = _known(made)
        if len(known) < len(others):
            made = _profile(store, select, known, sampled)
        compared = f"{plural(len(known), 'window')} of the same length, outside symptoms" if known else ""
        return made, compared
    other = _other(given, asked, select)
    first, *rest = blocks(other.window)
    made = _profile(store, select, ())
    than = _profile(store, _moved(other, first), rest)
    if not than.counts.window.size or not made.counts.window.size:
        return replace(made, notes=(*made.notes, "there are no samples to compare with")), ""
    return against(made, than, "the baseline"), "the second rectangle"


def _profile(
    store: Store, select: Select, others: Sequence[Window], sampled: Sequence[Window] | None = None
) -> Profile:
    detail: Detail = "samples" if select.cpus or select.pids or select.tids or select.cgroups else "stacks"
    return profile(store, select, others, on_progress=lambda share: wanted(), detail=detail, sampled=sampled)


def _usual(store: Store, window: Window) -> tuple[list[Window], list[Window]]:
    near = window[0] - WITHIN_NS - AFTER_NS, window[1] + WITHIN_NS + BEFORE_NS
    snapshot = store.snapshot(near)
    sampled = profiled(snapshot)
    return sampled, baselines(window, sampled, [event.at_ns for event in symptoms(snapshot, near, [])])


def _known(made: Profile) -> list[Window]:
    """The baseline windows that were looked at, half of them at least."""
    _, *others = zip(made.counts.windows, made.seconds.tolist(), strict=True)
    return [(low, high) for (low, high), seconds in others if made.timed and seconds * _NS >= _HALF * (high - low + 1)]


def _other(given: str, asked: Asked, select: Select) -> Select:
    """The samples of the second rectangle: FROM-TO in nanoseconds; its rows are in `against_*`."""
    low, dash, high = given.partition("-")
    if not dash:
        raise BadInput("against is none, usual, or FROM-TO in nanoseconds.", "see /api/v1/openapi.json")
    chosen = Select(
        window_of(low, high),
        cpus=asked.numbers("against_cpus"),
        pids=asked.numbers("against_pids"),
        tids=asked.numbers("against_tids"),
        comms=select.comms,
        cgroups=asked.words("against_cgroups"),
    )
    rows = chosen.cpus or chosen.pids or chosen.tids or chosen.cgroups
    return chosen if rows else _moved(select, chosen.window)


def _moved(select: Select, window: Window) -> Select:
    return replace(select, window=window)


def _columns(made: Layout, read: Profile, compared: str) -> Answer:
    stacks = made.tree
    names, name = _words([stacks.names[node] for node in made.node.tolist()])
    modules, module = _words([stacks.modules[node] for node in made.node.tolist()])
    kind_of = np.array([CODE_KINDS.index(code_kind(one)) for one in modules], np.uint8)
    head: dict[str, Any] = {
        "schema": "necroscope.flame/1",
        "cores": float(made.cores[0]),
        "of_cores": read.cores,
        "samples": int(made.samples[0]),
        "seconds": made.seconds,
        "timed": read.timed,
        "compared": compared,
        "sure": SURE,
        "boxes": len(made),
        "left_out": len(stacks) - len(made),
        "names": names,
        "modules": modules,
        "kinds": list(CODE_KINDS),
        "notes": list(read.notes)[:20],
    }
    arrays = {
        "x0": made.x0.astype(np.float32),
        "x1": made.x1.astype(np.float32),
        "parent": made.parent.astype(np.uint32),
        "name": name,
        "module": module,
        "depth": made.depth.astype(np.uint16),
        "kind": kind_of[module] if len(made) else kind_of,
        "samples": made.samples.astype(np.uint32),
        "cores": made.cores.astype(np.float32),
        "own": _own(stacks, made),
    }
    if made.before is not None:
        arrays |= {"before": made.before.astype(np.float32), "chance": made.chance.astype(np.float32)}
    return columns(head, arrays)


def _own(stacks: Tree, made: Layout) -> Any:
    """Samples that end in each box."""
    return stacks.own[made.node, 0].astype(np.uint32)


def _words(texts: list[str]) -> tuple[list[str], Any]:
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.uint32)
    return [text[:1000] for text in numbers], codes
