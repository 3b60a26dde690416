"""Cases: any that the types allow, for Hypothesis, and one of every kind of value by hand."""

from __future__ import annotations

import dataclasses
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from necroscope.clock import NS
from necroscope.vocabulary.case import Case, LineUp, Run, Stack, Starvation, Suspect
from necroscope.vocabulary.leak_facts import (
    Below,
    LeakContainer,
    LeakFacts,
    LeakFamily,
    LeakUnit,
    Left,
    Leftovers,
    Maker,
    Named,
    Pins,
    RestartsOf,
)
from necroscope.vocabulary.model import MODES
from necroscope.vocabulary.typed_json import INTEGER_MOST, NUMBER_MOST
from necroscope.vocabulary.verdict import Complaint, Growth, Strip

AT_NS = 1_767_323_045_678_000_000  # 2026-01-02T03:04:05.678Z
_LONG_ID = "3f5c90aa27d1" + "0b4e" * 13
_TEXTS = st.text(st.characters(exclude_categories=("Cs",)) | st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF))


def any_value(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a declared type that means something: finite numbers of 64 bits, rows of the right length."""
    if kind is str:
        return _TEXTS
    if kind is int:
        return st.integers(-INTEGER_MOST, INTEGER_MOST)
    if kind is float:
        return st.floats(-NUMBER_MOST, NUMBER_MOST)
    if kind is bool:
        return st.booleans()
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is UnionType:
        return st.none() | any_value(next(one for one in arguments if one is not NoneType))
    if origin is tuple and arguments[-1] is Ellipsis:
        return st.lists(any_value(arguments[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(any_value, arguments))
    if origin is dict:
        return st.dictionaries(_TEXTS, any_value(arguments[1]), max_size=2)
    return _object(kind)


def _object(kind: Any) -> st.SearchStrategy[Any]:
    parts = {name: any_value(one) for name, one in get_type_hints(kind).items()}
    if kind is Run:
        parts["shares"] = st.tuples(*[st.floats(0, 1)] * len(MODES))
        parts["from_ns"], parts["to_ns"] = st.integers(0, AT_NS), st.integers(AT_NS, INTEGER_MOST)
    if kind is Strip:
        parts |= {name: st.tuples(*[any_value(float | None)] * 2) for name in ("busy", "system", "average")}
    if kind is Complaint:
        parts["id"] = st.none() | st.integers(0, (1 << 64) - 1)
    if kind is Growth:
        parts |= {name: st.tuples(*[any_value(int)] * 2) for name in ("at_ns", "count")}
    needed = {one.name for one in dataclasses.fields(kind) if _needed(one)}
    required = {name: part for name, part in parts.items() if name in needed}
    optional = {name: part for name, part in parts.items() if name not in needed}
    return st.fixed_dictionaries(required, optional=optional).map(lambda fields: kind(**fields))


def _needed(one: dataclasses.Field[Any]) -> bool:
    return one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING


def any_case() -> st.SearchStrategy[Case]:
    """Any case."""
    return any_value(Case)


def classes() -> list[type]:
    """Every class that a case is made of."""
    found: dict[type, None] = {}
    waiting: list[Any] = [Case]
    while waiting:
        kind = waiting.pop()
        if dataclasses.is_dataclass(kind) and isinstance(kind, type) and kind not in found:
            found[kind] = None
            waiting += get_type_hints(kind).values()
        else:
            waiting += get_args(kind)
    return list(found)


_RUN = Run(39, AT_NS - 9 * NS, AT_NS - 2 * NS, (0.02, 0.96, 0.0, 0.02, 0.0, 0.0))
_WALK = ("do_syscall_64", "try_charge_memcg", "shrink_node", "mem_cgroup_iter")
STACKS = (
    Stack(_WALK, "mem_cgroup_iter", True, 4.1),
    Stack(_WALK[:3], "shrink_node", True, 1.2),
    Stack((), "acme::Ledger::settle", False, 0.3),
)
SUSPECT = Suspect(
    "acme-statsd",
    "/system.slice/acme-statsd.service",
    "",
    (811,),
    6.6,
    0.98,
    0.01,
    1e-40,
    0.97,
    STACKS,
    ("/system.slice/acme-statsd.service",),
)
WORKER = Suspect("kworker/39:1-events", "/", "", (93,), 0.3, 0.04, 0.04, 0.9, 1.0, STACKS[:1])
LEAKS = LeakFacts(
    span=(AT_NS - 7200 * NS, AT_NS + 30 * NS),
    zombies=Leftovers(
        total=68_440,
        below=(Below("/system.slice", 60_000), Below("/docker", 8_440)),
        looks=((AT_NS - 60 * NS, 68_400), (AT_NS, 68_440)),
        families=(
            LeakFamily("/system.slice/acme-agent.service", "/system.slice", 60_000),
            LeakFamily(
                "/docker/<id>",
                "/docker",
                8_440,
                (Named(f"/docker/{_LONG_ID}", 2),),
                (f"/docker/{_LONG_ID}",),
                (f"/docker/{_LONG_ID}",),
                (Pins("tmpfs", 7, 4096, ("/dev/shm/acme-ledger-7",)),),
                0.4,
            ),
        ),
        named=68_440,
        whole=True,
        left=(Left("/system.slice/acme-agent.service", None, 12, (AT_NS - 5 * NS, AT_NS - 3 * NS)),),
        left_total=12,
        pins=(Pins("tmpfs", 68_000),),
        source="kernel memory",
    ),
    live=240,
    makers=(Maker(2400, "acme-sandbox", "/system.slice/acme-agent.service", 1, "systemd"),),
    units=(
        LeakUnit(
            "acme-agent.service",
            "/system.slice/acme-agent.service",
            "activating",
            "exit-code",
            60_000,
            59_000,
            1,
            "always",
            "enabled",
            "enabled",
            ("multi-user.target",),
            ("acme-agent.timer",),
        ),
    ),
    containers=(LeakContainer("acme-ledger", (_LONG_ID,), "docker", f"/docker/{_LONG_ID}", 3, 4),),
    restarts=(RestartsOf("unit", "acme-agent.service", (AT_NS - 5 * NS,), ((AT_NS - 4 * NS, 2),)),),
    systemd=True,
    engines=True,
)
CASE = Case(
    Complaint("nic-reset", AT_NS, "kmsg", "ena eth0: acme-watch saw TX queue 3 stuck", "eth0", id=42, device="eth0"),
    (AT_NS - 7200 * NS, AT_NS + 60 * NS),
    (AT_NS - 45 * NS, AT_NS),
    True,
    96,
    covered=1.0,
    covered_close=1.0,
    busy_before=0.09,
    kernel="5.15.0-1040-aws",
    starvations=(
        Starvation(
            _RUN,
            _RUN,
            LineUp((SUSPECT, WORKER), (), SUSPECT, 0.99, 12),
            numbers={"pgfault": 60_206.4, "pgfault_before": 60_844.0, "zombies": 68_440},
            strip=Strip(39, AT_NS - 2 * NS, (1.0, None), (0.9, None), (0.1, None)),
        ),
    ),
    leaks=LEAKS,
    notes=("segment acme-7 cannot be read",),
)
