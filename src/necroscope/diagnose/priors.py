"""Every number that the reasoning believes without having measured it on the node: one table, and what each means.

A strength is how sure a link is, from 0 to 1; a share is a part of a whole. Functions take `priors` and never read a
number from elsewhere, so that a test can change each of them and see what follows.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Priors:
    """The table. The prefix of a field says which part of the reasoning uses it."""

    # -- verdict ------------------------------------------------------------------------------------------
    floor: float = 0.5
    """Below this confidence nobody is named: abstaining is better than guessing."""
    most: float = 0.99
    """No verdict is surer than this."""
    most_partial: float = 0.65
    """A verdict that does not know the mechanism, or whom to act on, is not surer than this, however clear the rest."""
    nobody_part: float = 0.6
    """Strength of a link by which nobody may be named, as a part of the floor: what was so from the first recorded
    second, with no quiet time to compare with; a hog, or work without a name, for which nobody waited."""

    # -- core: whether a core's starvation made the symptom -----------------------------------------------
    core_sure: float = 0.99
    """Strength of a starvation that goes on up to the symptom."""
    core_soon_s: float = 12.0
    """A core that was starved until so many seconds before the symptom is as near as can be."""
    core_soon_least_s: float = 2.0
    """A short one must have ended later: so many seconds before the symptom, and..."""
    core_soon_times: float = 2.0
    """...so many times its own length."""
    core_late_s: float = 10.0
    """From then on it suits less: by e in so many seconds."""
    core_after: float = 0.4
    """Factor of a starvation that began when the symptom had been reported."""
    core_not_said: float = 0.4
    """Factor where the complaint names another core in its own words."""
    core_not_routed: float = 0.8
    """Factor where the interrupts of the complaint's queue go to another core."""
    core_rival: float = 0.8
    """How much an equally good other starvation, of somebody else, takes from the strength."""
    core_rival_power: float = 3.0
    """How fast that fades for one that suits less."""

    # -- score: which starvation suits a symptom best ------------------------------------------------------
    score_least: float = 0.08
    """A starvation that suits less is not looked at."""
    score_user: float = 0.45
    """What a starvation all in user code suits, against one all in the kernel."""
    score_whole_s: float = 4.0
    """Starvations of so many seconds and more are long enough."""
    score_guess: float = 0.4
    """Factor where there are no quiet times to compare with."""
    score_usual: float = 0.1
    """Factor of whoever takes no more than in quiet times."""
    score_not_said: float = 0.25
    """Factor of a core that is not the one that the complaint names."""
    score_not_routed: float = 0.5
    """The same, of the core to which its interrupts go."""
    score_all_along: float = 0.2
    """Factor of a core that was busy for most of the recorded time: not the reason of what is rare."""
    score_all_along_s: float = 525.0
    """From how many seconds on that is so."""
    score_nobody_waits: float = 0.4
    """Factor where others ran on the core as they wanted: less than `score_hardly` of their time was waiting."""
    score_hardly: float = 0.1
    """See `score_nobody_waits`."""
    score_waits: float = 0.3
    """From this share of the time on somebody is known to have waited for a core."""
    score_unwaited: float = 0.6
    """Factor of other starved cores then, of which nobody knows whether somebody waited."""
    score_alike: float = 0.6
    """Starvations of one core by the same one that suit at least so well against the best are the same thing again."""
    score_sampled: float = 0.6
    """Where less of the time was sampled, whoever has the samples stands for the rest."""

    # -- who: whether the suspect had the core --------------------------------------------------------------
    who_chance: float = 1e-3
    """How unlikely a count must be by chance before it is unusual."""
    who_rise: float = 1.5
    """How many times its share in quiet times it must take."""
    who_base: float = 0.5
    """Strength of somebody with next to none of the samples; it grows with the share of them."""
    who_by_share: float = 0.55
    """How much it grows up to all of them."""
    who_most: float = 0.985
    """No suspect is surer than this."""
    who_guess: float = 0.7
    """Factor where there are no quiet times to compare with, for user code."""
    who_guess_kernel: float = 0.2
    """What is added to it for the kernel's share."""
    who_constant_s: float = 3.0
    """How near the first recorded second that is."""
    who_usual: float = 0.4
    """Factor of whoever takes no more than in quiet times."""
    who_few_samples: float = 0.75
    """Factor where less than half of the time was sampled."""
    who_short: float = 0.9
    """Factor of a starvation shorter than `who_short_s`."""
    who_short_s: float = 2.5
    """See `who_short`."""
    who_group_lead: float = 1.3
    """A cgroup takes its processes' place where it took so many times as much as the first of them..."""
    who_group_processes: int = 8
    """...has at least so many of them..."""
    who_group_excess: float = 0.35
    """...and took at least so much more of the core than in quiet times."""

    # -- fact: numbers for and against a hypothesis ---------------------------------------------------------
    fact_rise: float = 1.5
    """A number that is less than this many times that of quiet times, and passes there as well, confirms nothing."""

    # -- mechanism: by what the time went -------------------------------------------------------------------
    mechanism_base: float = 0.55
    """Strength of a mechanism that next to none of the samples show; it grows with the share of them."""
    mechanism_by_share: float = 0.5
    """How much it grows up to all of them."""
    mechanism_confirmed: float = 0.04
    """What each number that confirms it adds."""
    mechanism_unasked: float = 0.95
    """Factor where no number could confirm it."""
    mechanism_unknown: float = 0.85
    """Factor where the numbers that would confirm it are not known, or say nothing."""
    mechanism_unconfirmed: float = 0.6
    """Factor where they are known and none confirms it."""
    mechanism_carries: float = 0.7
    """From this strength on a mechanism is taken for shown."""
    mechanism_weak_share: float = 0.5
    """A weaker one counts if so much of the samples show it."""
    mechanism_outside: float = 0.2
    """A more specific mechanism takes another's place if no more of its samples than this are not the other's..."""
    mechanism_part: float = 0.35
    """...and it explains at least so large a part of what the other explains."""
    mechanism_alike: float = 0.85
    """Two that explain different samples about equally well are "A or B"."""
    mechanism_user: float = 0.6
    """From this share on somebody mostly computes; what the kernel does for less than half of the time is beside it."""
    mechanism_storm: float = 0.95
    """Strength of a storm of short-lived processes that numbers confirm."""
    mechanism_storm_unconfirmed: float = 0.8
    """The same, where they do not."""
    mechanism_weak_or: float = 0.6
    """Strength where it may be either of two."""

    # -- hog: a program that computes, or a kernel path that nothing names -----------------------------------
    hog_base: float = 0.3
    """Strength of a program that computes: that is what a core is for."""
    hog_alone: float = 0.35
    """What is added if it had nearly all of the core."""
    hog_alone_share: float = 0.85
    """See `hog_alone`."""
    hog_long: float = 0.15
    """What is added if that went on for `hog_long_s`."""
    hog_long_s: float = 5.0
    """See `hog_long`."""
    hog_waited: float = 0.2
    """What is added if somebody else waited for most of that time."""
    hog_most: float = 0.93
    """No hog is surer than this."""
    hog_waited_share: float = 0.5
    """What is most of that time."""
    hog_pressure: float = 0.3
    """From this rise on of the time in which somebody on the node waited for a core, it counts although nobody knows
    for which core, if only one was starved, or the complaint names it..."""
    hog_pressed: float = 0.1
    """...and adds so much..."""
    hog_pressed_most: float = 0.8
    """...up to so much."""
    unnamed_pressed: float = 0.65
    """Strength of kernel work that nothing names, then."""
    unnamed_waited: float = 0.75
    """Strength of kernel work that nothing names, with somebody who waited, and of interrupts."""
    unnamed_path: float = 0.6
    """Functions that so much of it went through are shown for kernel work that nothing names."""

    # -- rival: what else the numbers speak for ---------------------------------------------------------------
    rival_stands: float = 0.3
    """A rival that explains so much of the lost time is not ruled out."""
    rival_takes: float = 0.6
    """How much a rival that explains all of it takes from the confidence."""
    rival_unmeasured: float = 0.15
    """How much of the lost time a rival claims that is not ruled out and does not say how much."""
    rival_errors: float = 0.1
    """So many errors of a device a second more than in quiet times, and it is not ruled out."""
    rival_own_work: float = 0.5
    """A rival with less of its own work than this part of what is below it only carries what something else does."""
    rival_cause: float = 0.9
    """Strength of a rival that is the cause, if it explains all of the lost time."""
    rival_base: float = 0.4
    """What is left of that if it explains next to nothing."""

    # -- subject: whom to act on --------------------------------------------------------------------------------
    subject_sure: float = 0.99
    """Strength of whoever was on the core."""
    subject_nobody: float = 0.9
    """What a verdict is worth that names nobody to act on."""
    subject_ordered: float = 0.95
    """Strength of whoever ordered the work, or whose processes it was."""
    order_part: float = 0.6
    """Part of all calls that order such work that one must have made."""
    order_rise: float = 2.0
    """How many times as much as in quiet times."""

    # -- again: the same before other symptoms -------------------------------------------------------------------
    again_doubt: float = 0.67
    """What each further time leaves of the doubt."""
    again_alone: float = 0.96
    """Strength where at least two other symptoms were looked at and it was not there."""
    again_believed: float = 0.9
    """What is less sure than this part of the floor is no surer for being seen often: whoever is busy often is near
    every symptom."""
    again_share: float = 0.4
    """Part of the core that it must have taken again."""

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
    leak_least_seen_share: float = 0.1
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

    @property
    def nobody(self) -> float:
        """Strength of a link by which nobody may be named."""
        return self.floor * self.nobody_part


PRIORS = Priors()
"""The table as it is used."""
