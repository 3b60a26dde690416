"""Rows without the names that identify: hosts, processes, units, containers, programs and their functions, files.

Functions and modules of the kernel, kinds of symptoms, numbers and times stay. Ids that are made from names are made
anew from the neutral ones: whoever guesses a name cannot check it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from necroscope.sense.log.symptoms import catalogue
from necroscope.sense.perf.modules import in_kernel
from necroscope.sense.perf.samples import canonical_frame, stack_id
from necroscope.store.format.arrow import WORD, Tables
from necroscope.store.format.rows import event_rows
from necroscope.store.redact.kernel_tasks import Mask, entry, kernel_threads
from necroscope.store.redact.neutral_names import Names, is_unit
from necroscope.store.redact.neutral_words import neutral_sentence
from necroscope.vocabulary.event import Event, event_of

Change = Callable[[Names, str], str]

# Labels whose values stay, and those whose values are names of a sort. All others are sentences of unknown words.
_PLAIN_LABELS = frozenset(
    (
        *("cpu", "mode", "kind", "direction", "queue", "resource", "who", "part", "sensor", "zone", "node"),
        "gpu",
    )
)
# Words of systemd and of container engines, in the labels that have them.
_STATES = """
activating active configured created crio containerd dead deactivating docker docker-api exited failed inactive
initialized maintenance paused podman refreshing reloading removed removing restarting running stopped stopping
unknown
"""
_RELEASE = re.compile(r"\d{1,3}(?:\.\d{1,3}){1,2}")
_NO_NUMBER = re.compile(r"[A-Z]{2,3}\d?")
_IRQ = re.compile(rf"\d{{1,6}}|{_NO_NUMBER.pattern}")
_NAMED_LABELS: dict[str, Change] = {
    "parent": Names.path,
    "cgroup": Names.path,
    "path": Names.path,
    "unit": Names.unit,
    "container": lambda names, value: names.token("container", value),
    "device": Names.device,
    "name": Names.interrupt,
    # A kernel of one's own may bear one's name after the numbers.
    "release": lambda names, value: found[0] if (found := _RELEASE.match(value)) else names.token("release", value),
    "irq": lambda names, value: value if _IRQ.fullmatch(value) else names.token("irq", value),
    **dict.fromkeys(
        ("active_state", "engine", "state"),
        lambda names, value: value if value in _STATES.split() else names.token("state", value),
    ),
}


def _labels(names: Names, text: str) -> str:
    """Labels, value by value; what cannot be read becomes a token."""
    try:
        labels = dict(json.loads(text))
    except (ValueError, TypeError, RecursionError):
        return json.dumps({"label": names.token("label", text)})
    # Interrupts that have no number are the processor's own, and so is what the kernel says of them.
    plain = _PLAIN_LABELS | {"name"} if _NO_NUMBER.fullmatch(str(labels.get("irq", ""))) else _PLAIN_LABELS
    changed = {
        key: str(value) if key in plain or not value else _NAMED_LABELS.get(key, neutral_sentence)(names, str(value))
        for key, value in labels.items()
    }
    return json.dumps(changed, ensure_ascii=False, separators=(",", ":"))


def _units(names: Names, text: str) -> str:
    return " ".join(names.unit(one) for one in text.split())


COLUMNS: dict[str, dict[str, Change]] = {
    "samples": {"comm": Names.process, "cgroup": Names.path, "event": Names.perf_event},
    "zombies": {"parent": Names.path},
    "zombie_names": {"path": Names.path, "family": Names.path},
    "units": {"name": Names.unit, "control_group": Names.path, "wanted_by": _units, "triggered_by": _units},
    "processes": {"comm": Names.process, "cgroup": Names.path},
    "series": {"labels": _labels},
}
"""What is changed word by word; stacks and events are changed as a whole. Threads of the kernel's, as `kernel_threads`
finds them, are named by `Names.thread` instead."""
FIELDS: dict[str, Change] = {
    "text": neutral_sentence,
    "reason": neutral_sentence,
    "device": neutral_sentence,
    "driver": neutral_sentence,
    "task": neutral_sentence,
    "path": Names.path,
    "boot": lambda names, value: names.token("boot", value),
}
"""The texts of an event beside its subject. What a log names is changed as in its line, so that both still agree."""
KEPT = {
    "series": {"source", "name"},
    "ticks": {"source"},
    "zombie_names": {"pinned_by"},
    "units": {
        "active_state",
        "sub_state",
        "result",
        "exit_code",
        "restart_policy",
        "unit_file_state",
        "preset",
    },
}
"""Texts that are words of this program, of systemd or of the kernel."""

# `stall` and its like are the lab's.
MARKS = frozenset(("mark", "job-failed", "job-started", "job-ended", "stall", "slow-echo", "slow-step"))


class Redactor:
    """Changes the rows of one bundle, table by table; rows are as a journal has them."""

    def __init__(self, names: Names | None = None) -> None:
        self.names = names or Names()
        self._frames: dict[tuple[str, bool], str] = {}

    def __call__(self, tables: Tables) -> Tables:
        """The same rows with neutral names."""
        changed = {name: self._words(name, table) for name, table in tables.items()}
        for name, rows in kernel_threads(tables).items():
            changed[name] = self._kernel_names(changed[name], tables[name], rows)
        if "samples" in changed:
            changed |= self._stacks(changed["samples"], changed.get("stacks"))
        if "events" in changed:
            changed["events"] = event_rows([self._event(event_of(row)) for row in _events(changed["events"])])
        return changed

    def _words(self, name: str, table: pa.Table) -> pa.Table:
        for column, change in COLUMNS.get(name, {}).items():
            number = table.column_names.index(column)
            texts = table[column].cast(pa.string()).combine_chunks().dictionary_encode()
            texts = pa.concat_arrays(texts.chunks) if isinstance(texts, pa.ChunkedArray) else texts
            words = pa.array([change(self.names, word) for word in texts.dictionary.to_pylist()], pa.string())
            made = pa.DictionaryArray.from_arrays(texts.indices, words)
            # Two words may have become one, and a dictionary has each word once.
            made = made.dictionary_decode()
            field = table.schema.field(number)
            table = table.set_column(number, field, made.dictionary_encode() if field.type == WORD else made)
        return table

    def _kernel_names(self, changed: pa.Table, table: pa.Table, rows: Mask) -> pa.Table:
        """The changed table with the names of the kernel's threads in these rows."""
        comms = table["comm"].cast(pa.string())
        known = {name: self.names.thread(name) for name in comms.filter(pa.array(rows)).unique().to_pylist()}
        words = [known[name] if own else None for name, own in zip(comms.to_pylist(), rows.tolist(), strict=True)]
        made = pc.coalesce(pa.array(words, pa.string()), changed["comm"].cast(pa.string()).combine_chunks())
        place = changed.column_names.index("comm")
        field = changed.schema.field(place)
        return changed.set_column(place, field, made.dictionary_encode() if field.type == WORD else made)

    def _stacks(self, samples: pa.Table, stacks: pa.Table | None) -> Tables:
        ids, numbers = np.unique(samples["stack_id"].to_numpy(), return_inverse=True)
        known = (
            {} if stacks is None else dict(zip(*(stacks[one].to_pylist() for one in stacks.column_names), strict=True))
        )
        texts = {one: self._stack(text) for one, text in known.items()}
        made = {one: _id(text) if text else self.names.number(one) for one, text in texts.items()}
        new = np.array([made.get(one) or self.names.number(one) for one in ids.tolist()], np.uint64)
        place = samples.column_names.index("stack_id")
        changed = {
            "samples": samples.set_column(place, samples.schema.field(place), pa.array(new[numbers.reshape(-1)]))
        }
        if stacks is not None:
            rows = {made[one]: text for one, text in texts.items()}
            columns = [pa.array(list(rows), pa.uint64()), pa.array(list(rows.values()), pa.string())]
            changed["stacks"] = pa.Table.from_arrays(columns, schema=stacks.schema)
        return changed

    def _stack(self, text: str) -> str:
        frames = text.split("\x1e")[:-1]
        entered = entry(frames)
        return "".join(self._frame(frame, number >= entered) for number, frame in enumerate(frames))

    def _frame(self, frame: str, inner: bool) -> str:
        found = self._frames.get((frame, inner))
        if found is None:
            name, _, module = frame.partition("\x1f")
            made = self.names.frame(name, module if inner or not in_kernel(module) else f"./{module}")
            found = self._frames[frame, inner] = "{}\x1f{}\x1e".format(*made)
        return found

    def _event(self, event: Event) -> Event:
        own = event.source != "mark" or event.kind in MARKS or event.kind in catalogue().kinds
        kind = event.kind if own else self.names.token("kind", event.kind)
        changed: dict[str, Any] = {
            name: change(self.names, value) for name, change in FIELDS.items() if (value := getattr(event, name))
        }
        # Made from other names, it is another event: its id is made anew.
        return replace(event, kind=kind, subject=self._subject(event), stored_id=None, **changed)

    def _subject(self, event: Event) -> str:
        if event.source == "recorder":
            return event.subject
        if event.subject.startswith("/"):
            return self.names.path(event.subject)
        if is_unit(event.subject):
            return self.names.unit(event.subject)
        if event.kind.startswith("container"):
            return self.names.token("container", event.subject)
        return neutral_sentence(self.names, event.subject)


def _events(table: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.select([name for name in table.column_names if name != "id"]).to_pylist()
    return rows


def _id(frames: str) -> int:
    pairs = (frame.partition("\x1f") for frame in frames.split("\x1e")[:-1])
    return stack_id(canonical_frame(name, module) for name, _, module in pairs)
