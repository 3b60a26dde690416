"""By which mechanism a suspect held the core: its stacks against the catalogue, then the facts for and against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from necroscope.diagnose.mechanism import Judged, Match, Mechanism, judge, match
from necroscope.diagnose.why.suspects import Suspect
from necroscope.model import Evidence
from necroscope.quantity import share
from necroscope.query.kernel_frames import kernel_functions
from necroscope.verdict import Rejected

USER_HOG, UNKNOWN, EXEC_STORM = "user-hog", "unknown-mechanism", "exec-storm"
_STORM, _SHORT_LIFE_S = 20, 0.03
_SOME_KERNEL, _SOME_STARTS = 0.3, 0.01
_LOADING = frozenset(
    ("bprm_execve", "do_execveat_common", "__do_execve_file", "load_elf_binary", "begin_new_exec", "flush_old_exec")
)
_MOSTLY_USER = 0.6
_NOBODY_WAITED, _MOST_OF_IT = 0.45, 0.5
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Found:
    """A mechanism, the stacks' share of it, how well the facts bear it out (0 to 1), and those that do not fit."""

    mechanism: Mechanism
    share: float
    functions: tuple[str, ...]
    judged: Judged
    strength: float
    rejected: tuple[Rejected, ...] = ()

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What the facts say for it."""
        return tuple(Evidence(check.says(value), check.fact, round(value, 3)) for check, value in self.judged.confirmed)


def mechanism_of(suspect: Suspect, facts: Mapping[str, float], known: Sequence[Mechanism]) -> Found | None:
    """The mechanism of a suspect. None where the catalogue has not even a name for what is unknown."""
    rejected: list[Rejected] = []
    weak: Found | None = None
    for one in match(suspect.stacks, known):
        judged = judge(one.mechanism, facts)
        if judged.refuted:
            rejected.append(_refuted(one, judged))
            continue
        found = Found(one.mechanism, one.share, one.functions, judged, _strength(one, judged))
        if found.strength >= 0.7 and not _in_user_code(one, suspect):
            return _with(found, rejected)
        weak = weak or found
    if (storm := _storm(suspect, facts, known)) is not None:
        return _with(storm, rejected)
    if weak is not None and weak.share >= 0.5:
        return _with(weak, rejected)
    return _nameless(suspect, facts, known, rejected)


def _in_user_code(one: Match, suspect: Suspect) -> bool:
    """Whether what happens in the kernel is the smaller part of a suspect who mostly computes."""
    return one.mechanism.needs_kernel_time and 1 - suspect.kernel >= _MOSTLY_USER and one.share < _HALF


def _storm(suspect: Suspect, facts: Mapping[str, float], known: Sequence[Mechanism]) -> Found | None:
    """Many processes that each live for milliseconds: their own code takes as long as the kernel to start and end
    them, so that the stacks alone show no mechanism; their number does. Workers that are forked, start no program and
    compute are no such storm: what they compute takes the time, not their start."""
    entry = next((one for one in known if one.id == EXEC_STORM), None)
    if entry is None or len(suspect.pids) < _STORM or suspect.seconds > _SHORT_LIFE_S * len(suspect.pids):
        return None
    if suspect.kernel < _SOME_KERNEL and _starting(suspect) < _SOME_STARTS:
        return None
    judged = judge(entry, facts)
    if judged.refuted:
        return None
    return Found(entry, suspect.kernel, (), judged, 0.95 if judged.confirmed else 0.8)


def _starting(suspect: Suspect) -> float:
    """The share of its samples in which a program is being loaded."""
    total = sum(weight for _, weight in suspect.stacks)
    starts = sum(weight for text, weight in suspect.stacks if not _LOADING.isdisjoint(kernel_functions(text)))
    return starts / total if total else 0.0


def _with(found: Found, rejected: list[Rejected]) -> Found:
    return Found(found.mechanism, found.share, found.functions, found.judged, found.strength, tuple(rejected))


def _strength(one: Match, judged: Judged) -> float:
    """Stacks that show it, and facts that confirm it. Facts that are there and confirm nothing count against it."""
    by_stacks = min(1.0, 0.55 + 0.5 * one.share)
    if judged.confirmed:
        return min(0.99, by_stacks + 0.04 * len(judged.confirmed))
    if not one.mechanism.confirm:
        return 0.95 * by_stacks
    unknown = {check.fact for check in judged.unknown}
    if any(check.fact in unknown for check in one.mechanism.confirm):
        return 0.85 * by_stacks
    return 0.6 * by_stacks


def _refuted(one: Match, judged: Judged) -> Rejected:
    check, value = judged.refuted[0]
    evidence = (
        Evidence(check.says(value), check.fact, round(value, 3)),
        Evidence(f"{share(one.share)} of the stacks look like it ({', '.join(one.functions[:3])})", "samples"),
    )
    return Rejected(one.mechanism.id, check.says(value), evidence)


def _nameless(
    suspect: Suspect, facts: Mapping[str, float], known: Sequence[Mechanism], rejected: list[Rejected]
) -> Found | None:
    wanted = USER_HOG if 1 - suspect.kernel >= _MOSTLY_USER and not suspect.context else UNKNOWN
    entry = next((one for one in known if one.id == wanted), None)
    if entry is None:
        return None
    judged = judge(entry, facts)
    strength = _hog_strength(suspect, facts) if wanted == USER_HOG else _unknown_strength(suspect, facts)
    part = 1 - suspect.kernel if wanted == USER_HOG else suspect.kernel
    return Found(entry, part, (), judged, strength, tuple(rejected))


def _unknown_strength(suspect: Suspect, facts: Mapping[str, float]) -> float:
    """Work in the kernel is not to blame where nobody waited, however odd it is; interrupts keep everybody waiting."""
    waited = facts.get("victim_waited")
    if suspect.context or (waited is not None and waited >= _MOST_OF_IT):
        return 0.75
    return 0.65 if waited is None else _NOBODY_WAITED


def _hog_strength(suspect: Suspect, facts: Mapping[str, float]) -> float:
    """A program that computes is what a core is for, and the kernel interrupts it at any time. It is to blame when it
    had the core for itself, for long, and somebody else waited for most of that; where nobody waited, or nobody knows
    whether somebody did, it is not named."""
    strength = 0.3
    strength += 0.35 if suspect.share >= 0.85 else 0.0
    strength += 0.15 if facts.get("starved_s", 0.0) >= 5 else 0.0
    if facts.get("victim_waited", 0.0) >= _MOST_OF_IT:
        return min(0.93, strength + 0.2)
    return min(_NOBODY_WAITED, strength)
