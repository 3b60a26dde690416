"""Have the leak and the restarts stopped?

Two witnesses for the leak: the count of zombies over time, and the cgroups that were seen to be left behind, by whom.
Directories that nobody removes are counted alike. It fails by either; it passes only where growth as before would have
been seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from necroscope.config import Config
from necroscope.diagnose.leak import attribute, source
from necroscope.diagnose.leak.attribution import Attribution, Leak
from necroscope.diagnose.priors import PRIORS
from necroscope.diagnose.validate.enough import EXPECTED, longer
from necroscope.quantity import count, plural, span
from necroscope.vocabulary.conclusions.validation import Answer, Side, ValidationFacts
from necroscope.vocabulary.leak_facts import RestartsOf, What
from necroscope.vocabulary.model import Evidence, Subject

HOUR_S = 3600.0
# Looks at units and containers come every ten seconds.
_LATE_NS = 12_000_000_000
_TOLD = 4
_LEAST = 3
"""Fewer than this come and go on any node."""
_MANY_DIRECTORIES = PRIORS.leak_least_directories


@dataclass(frozen=True, slots=True)
class Grown:
    """By how many something grew between two looks, and in which time."""

    by: int
    seconds: float
    first: int
    last: int

    @property
    def per_hour(self) -> float:
        """How fast."""
        return self.by / self.seconds * HOUR_S if self.seconds > 0 else 0.0


def growth(facts: ValidationFacts, config: Config) -> tuple[Answer, Subject | None]:
    """The answer, and who leaked before, or does now."""
    leaks = {
        "before": attribute(facts.before.leaks) if facts.before is not None else Attribution("zombies"),
        "after": attribute(facts.after.leaks),
    }
    who = source(leaks["before"]) or source(leaks["after"])
    leaker = who.subject if who is not None else facts.cause.subject if facts.cause is not None else None
    return _Judged(facts, config, leaks["before"], leaks["after"], leaker).answer(), leaker


@dataclass
class _Judged:
    facts: ValidationFacts
    config: Config
    leaks_before: Attribution
    leaks_after: Attribution
    leaker: Subject | None

    def answer(self) -> Answer:
        """Failures first: what was seen needs no baseline."""
        after = grown(self.facts.after.looks, self.facts.after)
        if evidence := [*self._still(after), *self._restarting()]:
            return Answer("growth", "fail", self._failed(after), tuple(evidence))
        if blind := self._blind(after):
            return Answer("growth", "inconclusive", "whether it grows cannot be told", (), blind)
        return self._stopped(after)

    # -- what fails ------------------------------------------------------------------------------------------

    def _still(self, after: Grown | None) -> Iterator[Evidence]:
        limits = self.config.zombies
        if after is not None and after.by >= _LEAST and after.per_hour > limits.growth_per_hour:
            yield _count_evidence("zombies", after, self.facts.after)
        for leak in self.leaks_after.leaks:
            same = self.leaker is not None and leak.subject == self.leaker
            if leak.seen >= _LEAST and (same or leak.seen / self.facts.after.seconds * HOUR_S > limits.growth_per_hour):
                yield _seen_evidence(leak, self.facts.after)
        directories = grown(self.facts.after.directories, self.facts.after)
        if directories is not None and directories.by >= _MANY_DIRECTORIES:
            yield _count_evidence("directories left behind", directories, self.facts.after)

    def _restarting(self) -> Iterator[Evidence]:
        before = _restarts(self.facts.before)
        for name, times in self._restarts_after().items():
            was = before.get(name, 0)
            if not self._matters(name, times, was):
                continue
            how = f", {count(was)} in {span(self.facts.before.seconds)} before" if was and self.facts.before else ""
            new = "" if was or self.facts.before is None else ", and did not before"
            text = f"{name[1]} restarted {plural(times, 'time')} in {span(self.facts.after.seconds)}{how}{new}"
            yield Evidence(text, "systemd" if name[0] == "unit" else "container engine", times, "restarts")

    def _restarts_after(self) -> dict[tuple[str, str], int]:
        """Those that a look noticed just after the change may have been before it."""
        return _restarts(self.facts.after, self.facts.change.at_ns + _LATE_NS)

    def _matters(self, name: tuple[str, str], times: int, was: int) -> bool:
        """The leaker's restarts; those of others where nothing leaked and that is all there was; and new loops."""
        if self.leaker is not None and name == (self.leaker.kind, self.leaker.name):
            return True
        least = self.config.crash_loop.restarts
        if was == 0:
            return times >= least and self.facts.before is not None
        return not self._leaked_before() and was >= least and times >= PRIORS.leak_half * was * self._ratio()

    def _ratio(self) -> float:
        return self.facts.after.seconds / self.facts.before.seconds if self.facts.before is not None else 1.0

    def _failed(self, after: Grown | None) -> str:
        if not list(self._still(after)):
            return "units or containers still restart over and over"
        now = [leak.subject for leak in self.leaks_after.leaks if leak.seen >= _LEAST]
        if self.leaker in now:
            who = f"{self.leaker.kind} {self.leaker.name}" if self.leaker is not None else "something"
        else:
            who = f"{now[0].kind} {now[0].name}" if now else "something, nobody saw what,"
        if self.facts.booted_ns is not None:
            return f"the reboot freed what had accumulated, and it grows again: {who} leaves cgroups behind"
        if self._leaked_before() and self.leaker in now:
            return f"the leak goes on: {who} still leaves cgroups behind"
        return f"zombies grow: {who} leaves cgroups behind"

    # -- what cannot be told ----------------------------------------------------------------------------------

    def _blind(self, after: Grown | None) -> str:
        if after is None:
            return "zombies were not counted twice after the change; see that the recorder runs as root"
        before = self.facts.before
        if before is not None and before.systemd_looks and not self.facts.after.systemd_looks:
            return "systemd was not asked after the change, so that restarts are unknown"
        if before is None or (grown(before.looks, before) is None and not self.leaks_before.left_total):
            return "what was before the change was not recorded, so that nobody can tell whether it stopped"
        return ""

    # -- what passes ------------------------------------------------------------------------------------------

    def _stopped(self, after: Grown | None) -> Answer:
        assert after is not None
        before = self.facts.before
        assert before is not None
        was = grown(before.looks, before)
        evidence = [_count_evidence("zombies", was, before)] if was is not None else []
        if seen := self.leaks_before.left_total:
            text = f"{plural(seen, 'cgroup')} were removed and never released in {span(before.seconds)} before"
            evidence.append(Evidence(text, "cgroup events", seen, "cgroups", before.window))
        evidence.append(_count_evidence("zombies", after, self.facts.after))
        evidence += self._each()
        evidence += _boot_evidence(self.facts)
        looped = {name: times for name, times in _restarts(before).items() if times >= self.config.crash_loop.restarts}
        evidence += [
            Evidence(
                f"{name} restarted {plural(times, 'time')} in {span(before.seconds)} before, "
                f"{plural(self._restarts_after().get((kind, name), 0), 'time')} in "
                f"{span(self.facts.after.seconds)} after",
                "systemd" if kind == "unit" else "container engine",
            )
            for (kind, name), times in looped.items()
        ]
        if not self._leaked_before():
            claim = "the restarts stopped; nothing leaked" if looped else "nothing grew, before or after"
            return Answer("growth", "pass", claim, tuple(evidence))
        rate = max(was.by / was.seconds if was is not None else 0.0, self.leaks_before.left_total / before.seconds)
        foreseen = rate * self.facts.after.seconds
        evidence.append(Evidence(f"{foreseen:.1f} more would have come at the rate of before", "memcg", foreseen))
        if foreseen < EXPECTED:
            return Answer(
                "growth",
                "inconclusive",
                "nothing grew, in a time in which little would have come anyway",
                tuple(evidence),
                longer(rate, 1.0),
            )
        return Answer(
            "growth", "pass", "the growth stopped" + (", and so did the restarts" if looped else ""), tuple(evidence)
        )

    def _each(self) -> Iterator[Evidence]:
        """Who leaked before, and how many he left since."""
        since = {leak.subject: leak.seen for leak in self.leaks_after.leaks}
        leakers = [leak for leak in self.leaks_before.leaks if leak.seen >= _LEAST]
        for leak in sorted(leakers, key=lambda one: -one.seen)[:_TOLD]:
            who = f"{leak.subject.kind} {leak.subject.name}"
            now = since.get(leak.subject, 0)
            yield Evidence(f"{who} left {count(leak.seen)} behind before, {count(now)} after", "cgroup events", now)

    def _leaked_before(self) -> bool:
        before = self.facts.before
        was = grown(before.looks, before) if before is not None else None
        return (was is not None and was.by >= _LEAST) or self.leaks_before.left_total >= PRIORS.leak_least_seen


def grown(looks: Sequence[tuple[int, int]], side: Side) -> Grown | None:
    """The growth over the looks of a side; None where fewer than two tell."""
    inside = [look for look in looks if side.window[0] <= look[0] <= side.window[1]]
    if len(inside) < 2:
        return None
    (first_ns, first), (last_ns, last) = inside[0], inside[-1]
    return Grown(last - first, (last_ns - first_ns) / 1e9, first, last)


def _restarts(side: Side | None, since_ns: int = 0) -> dict[tuple[str, str], int]:
    """How often who restarted. Where systemd gave times, some must lie within the side: a look tells late."""
    if side is None:
        return {}
    found: dict[tuple[str, str], int] = {}
    for one in _told(side):
        inside = any(side.window[0] <= at <= side.window[1] for at in one.exact_ns)
        told = sum(times for at, times in one.noticed if inside or (one.kind == "container" and at >= since_ns))
        if told:
            found[one.kind, one.name] = told
    return found


def _told(side: Side | None) -> Iterable[RestartsOf]:
    return side.leaks.restarts if side is not None else ()


def _count_evidence(what: What | str, one: Grown, side: Side) -> Evidence:
    text = (
        f"{count(one.first)} {what}, then {count(one.last)} {span(one.seconds)} later ({count(one.per_hour)} an hour)"
    )
    return Evidence(text, "memcg", one.by, "cgroups", side.window)


def _seen_evidence(leak: Leak, side: Side) -> Evidence:
    text = f"{plural(leak.seen, 'cgroup')} of {leak.subject.kind} {leak.subject.name} were removed and never released"
    return Evidence(f"{text} in {span(side.seconds)}", "cgroup events", leak.seen, "cgroups", side.window)


def _boot_evidence(facts: ValidationFacts) -> list[Evidence]:
    if facts.booted_ns is None or facts.zombies_before is None:
        return []
    first = facts.after.looks[0][1] if facts.after.looks else None
    left = f", {count(first)} after it" if first is not None else ""
    return [Evidence(f"the node rebooted: {count(facts.zombies_before)} zombies before{left}", "memcg")]
