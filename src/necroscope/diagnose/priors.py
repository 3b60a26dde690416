"""Every number that the reasoning believes without having measured it on the node: one table, and what each means.

A strength is how sure a link is, from 0 to 1; a share is a part of a whole. Functions take `priors` and never read a
number from elsewhere, so that a test can change each of them and see what follows.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Priors:
    """The table. The prefix of a field says which part of the reasoning uses it."""

    # -- fact: numbers for and against a hypothesis -------------------------------------------------------
    fact_rise: float = 1.5
    """A number that is less than this many times that of quiet times, and passes there as well, confirms nothing."""

    # -- leak: who leaks zombies or directories -----------------------------------------------------------
    leak_aligned: float = 0.97
    """Strength where leaks and restarts fall together in time, and would not if the restarts were shifted."""
    leak_seen: float = 0.92
    """Strength where several were seen to be left behind, and nothing but the names or makers tells whose."""
    leak_seen_few: float = 0.85
    """The same, where fewer than `leak_several` were seen."""
    leak_counted: float = 0.9
    """Strength of names alone, where restarts are the same number."""
    leak_named: float = 0.8
    """Strength of names alone."""
    leak_named_few: float = 0.6
    """The same, where fewer than `leak_several` bear the name."""
    leak_minority: float = 0.95
    """Factor where less than `leak_half` of what was seen to be left behind is the leaker's."""
    leak_small_share: float = 0.8
    """Factor where less than `leak_half` of what has accumulated is where the leaker's was."""
    leak_unknown_unit: float = 0.95
    """Factor for a unit that only a path names."""
    leak_several: int = 5
    """From this many on a name or a count is more than a few."""
    leak_least_seen: int = 3
    """Fewer cgroups than this that were seen to be left behind show nothing: an ordinary restart leaves stragglers."""
    leak_least_directories: int = 8
    """The same of directories that nobody removed: a few that were made lately are alive and well on any node."""
    leak_least_told: float = 0.1
    """Part of what was seen to be left behind whose owner must be known; the rest is then taken to be alike."""
    leak_most: float = 0.6
    """Part of all candidates' leaks, or of all names, that one must have to be to blame."""
    leak_half: float = 0.5
    """Half, where a rival with half as much makes two alike."""
    leak_least_share: float = 0.2
    """Part of the accumulation that must be where the leaker's were; less, and the accumulation is another's."""
    leak_outweighs: float = 5.0
    """How many times more the names must tell of than was seen, for the names to win against somebody who leaks now."""
    leak_agree: float = 0.05
    """How far a count of leaks and one of restarts may be apart and still be the same number."""
    leak_agree_slack: int = 2
    """The same for small numbers: the start that is under way, and the one before."""
    leak_agree_in_span: float = 0.25
    """The same within a span: looks at an engine come seconds apart, so that the last restarts may not be counted."""
    leak_align_share: float = 0.6
    """Part of the restarts that must have a leak near them."""
    leak_align_chance: float = 0.05
    """How likely at most that is when the restarts are shifted at random."""


PRIORS = Priors()
"""The table as it is used."""
