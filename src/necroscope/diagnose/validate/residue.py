"""What is left of before, and when will it matter? Stopping a leak frees nothing: what has accumulated stays."""

from __future__ import annotations

from necroscope.config import Config
from necroscope.diagnose.validate.growth import HOUR_S, grown
from necroscope.quantity import count, span
from necroscope.vocabulary.conclusions.validation import Answer, ValidationFacts
from necroscope.vocabulary.model import Evidence

_FREED = "free them (`necroscope fix`), or reboot"


def residue(facts: ValidationFacts, config: Config) -> Answer:
    """The answer."""
    looks = [look for look in facts.after.looks if look[0] <= facts.after.window[1]]
    if not looks:
        needs = "zombies were not counted after the change; see that the recorder runs as root"
        return Answer("residue", "inconclusive", "what is left is not known", (), needs)
    left, limit = looks[-1][1], _limit(facts, config)
    evidence = [Evidence(f"{count(left)} zombie cgroups are left", "memcg", left, "cgroups"), *_levels(facts, limit)]
    if facts.zombies_before is not None and facts.zombies_before != left:
        evidence.append(
            Evidence(f"{count(facts.zombies_before)} just before the change", "memcg", facts.zombies_before)
        )
    directories = facts.after.directories[-1][1] if facts.after.directories else 0
    if directories >= config.zombies.leaked_directories:
        evidence.append(Evidence(f"{count(directories)} cgroup directories are left behind", "memcg", directories))
        return Answer("residue", "fail", "directories left behind matter now", tuple(evidence), "remove them")
    if left >= limit:
        return Answer("residue", "fail", f"{count(left)} zombies are left, and matter now", tuple(evidence), _FREED)
    evidence.append(Evidence(when(facts, left, limit), "memcg"))
    words = f"{count(left)} zombies are left, too few to matter" if left else "nothing is left"
    return Answer("residue", "pass", words, tuple(evidence))


def when(facts: ValidationFacts, left: int, limit: int) -> str:
    """When what is left will matter, at the rate of after the change."""
    after = grown(facts.after.looks, facts.after)
    if after is None or after.by <= 0:
        return f"they do not grow: {count(limit)} are not reached at this rate"
    hours = (limit - left) / (after.by / after.seconds * HOUR_S)
    return f"at the rate of after the change, {count(limit)} are reached in {span(hours * HOUR_S)}"


def _limit(facts: ValidationFacts, config: Config) -> int:
    """From how many on they matter: as many as there were when symptoms came of them, else what the settings say."""
    critical = config.zombies.critical
    return min(critical, facts.at_symptom) if facts.at_symptom else critical


def _levels(facts: ValidationFacts, limit: int) -> list[Evidence]:
    if facts.at_symptom == limit:
        return [Evidence(f"there were {count(limit)} when symptoms came of them", "memcg", limit, "cgroups")]
    return [Evidence(f"from {count(limit)} on they matter", "settings: zombies.critical", limit, "cgroups")]
