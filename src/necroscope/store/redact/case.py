"""A case without the names that identify: what is judged is judged alike, with neutral names.

The same goes and stays as in a redacted bundle (`redact`). Times, numbers, the kernel's functions and its release stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from necroscope.sense.log.symptoms import catalogue
from necroscope.store.redact.neutral_names import is_unit
from necroscope.store.redact.neutral_shapes import ShapedNames
from necroscope.store.redact.neutral_words import neutral_sentence
from necroscope.store.redact.rows import MARKS
from necroscope.vocabulary import case as cases
from necroscope.vocabulary import leak_facts as leaks
from necroscope.vocabulary.case import Case
from necroscope.vocabulary.kernel_threads import is_the_kernels
from necroscope.vocabulary.verdict import Complaint

_Change = Callable[[ShapedNames, Any, str], str]
_KERNEL = "[kernel]"
_DELETED = " (deleted)"


def redacted(case: Case, names: ShapedNames | None = None) -> Case:
    """The case with neutral names, the same for the same name."""
    return _Redactor(names or ShapedNames()).case(case)


def _path(names: ShapedNames, _: Any, text: str) -> str:
    return names.path(text)


def _unit(names: ShapedNames, _: Any, text: str) -> str:
    return names.unit(text)


def _sentence(names: ShapedNames, _: Any, text: str) -> str:
    return neutral_sentence(names, text)


def _function(names: ShapedNames, _: Any, text: str) -> str:
    return names.frame(text, _KERNEL)[0]


def _leaf(names: ShapedNames, stack: cases.Stack, text: str) -> str:
    return names.frame(text, _KERNEL if stack.kernel else "")[0]


def _process(names: ShapedNames, who: Any, text: str) -> str:
    """A process, or a thread of the kernel's, which no cgroup holds."""
    if text.startswith("/"):
        return names.path(text)
    cgroups = (who.cgroup, *getattr(who, "cgroups", ()))
    return names.thread(text) if is_the_kernels(text, cgroups) else names.process(text)


def _file(names: ShapedNames, _: Any, text: str) -> str:
    """A file that pins memory, as `tmpfs:/PATH`; the kernel says of one that it is deleted."""
    path, deleted = text.removesuffix(_DELETED), text[len(text.removesuffix(_DELETED)) :]
    where, colon, rest = path.partition(":")
    return (f"{where}:{names.path(rest)}" if colon and where.isalpha() else names.path(path)) + deleted


def _subject(names: ShapedNames, _: Any, text: str) -> str:
    if text.startswith("/"):
        return names.path(text)
    return names.unit(text) if is_unit(text) else neutral_sentence(names, text)


def _kind(names: ShapedNames, symptom: Any, text: str) -> str:
    own = symptom.source != "mark" or text in MARKS or text in catalogue().kinds
    return text if own else names.token("kind", text)


CHANGED: dict[type, dict[str, _Change]] = {
    cases.Stack: {"functions": _function, "leaf": _leaf},
    cases.Suspect: {"cgroup": _path, "cgroups": _path, "name": _process},
    cases.Wait: {"cgroup": _path, "name": _process},
    cases.Caller: {"cgroup": _path, "name": _process, "functions": _function},
    cases.Quota: {"cgroup": _path},
    cases.NamedCore: {"interrupts": lambda names, _, text: names.interrupt(text)},
    cases.Gap: {"text": _sentence},
    cases.Blind: {"text": _sentence},
    cases.HardwareEvent: {"subject": _subject},
    leaks.Named: {"path": _path},
    leaks.Below: {"parent": _path},
    leaks.Pins: {"files": _file},
    leaks.LeakFamily: {"pattern": _path, "parent": _path, "newest": _path, "examples": _path},
    leaks.GrowthBelow: {"parent": _path},
    leaks.Left: {"path": _path},
    leaks.Maker: {"cgroup": _path, "name": _process, "parent_name": lambda names, _, text: names.process(text)},
    leaks.LeakUnit: {"name": _unit, "control_group": _path, "wanted_by": _unit, "triggered_by": _unit},
    leaks.LeakContainer: {
        "name": lambda names, _, text: names.token("container", text),
        "ids": lambda names, _, text: names.identity(text),
        "cgroup": _path,
    },
    leaks.RestartsOf: {
        "name": lambda names, one, text: names.unit(text) if one.kind == "unit" else names.token("container", text)
    },
    Complaint: {"kind": _kind, "text": _sentence, "subject": _subject, "device": _sentence},
    Case: {"notes": _sentence},
}
"""The texts that are changed, each on its own."""
KEPT: dict[type, set[str]] = {
    cases.Run: {"kind"},
    cases.Suspect: {"context"},
    cases.Starvation: {"numbers"},
    cases.NamedCore: {"source"},
    cases.Gap: {"subject"},
    cases.Blind: {"sensor"},
    cases.HardwareEvent: {"kind"},
    cases.Case: {"kernel", "damaged"},
    leaks.Pins: {"kind"},
    leaks.Leftovers: {"source"},
    leaks.LeakUnit: {"active_state", "result", "restart_policy", "unit_file_state", "preset"},
    leaks.LeakContainer: {"engine"},
    leaks.RestartsOf: {"kind"},
    Complaint: {"source"},
}
"""Texts that are words of this program, of systemd, of container engines or of the kernel."""


class _Redactor:
    def __init__(self, names: ShapedNames) -> None:
        self._names = names
        self._known: dict[tuple[tuple[str, ...], str, bool], cases.Stack] = {}

    def case(self, case: Case) -> Case:
        """Sentences come last: a name in them is then known for what it is."""
        facts, starvations = self._changed(case.leaks), self._changed(case.starvations)
        rest: Case = self._changed(replace(case, leaks=leaks.LeakFacts(), starvations=()))
        return replace(rest, leaks=facts, starvations=starvations)

    def _changed(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self._changed, value))
        if isinstance(value, cases.Stack):
            return self._stack(value)
        return self._object(value) if is_dataclass(value) else value

    def _object(self, value: Any) -> Any:
        changes = CHANGED.get(type(value), {})
        made = {name: self._texts(value, name, change) for name, change in changes.items()}
        made |= {one.name: self._changed(getattr(value, one.name)) for one in fields(value) if one.name not in changes}
        if isinstance(value, Complaint) and value.id is not None:
            made["id"] = self._names.number(value.id)
        return replace(value, **made)

    def _texts(self, value: Any, name: str, change: _Change) -> Any:
        found = getattr(value, name)
        if isinstance(found, str):
            return change(self._names, value, found) if found else found
        return tuple(change(self._names, value, one) if one else one for one in found)

    def _stack(self, stack: cases.Stack) -> cases.Stack:
        """Shapes of stacks are many and alike."""
        key = stack.functions, stack.leaf, stack.kernel
        if key not in self._known:
            self._known[key] = self._object(stack)
        return replace(self._known[key], weight=stack.weight)
