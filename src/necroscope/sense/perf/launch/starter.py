"""Starting perf with as much as works here, and learning from each perf that ended what the next must do without.

What to do without is found in this order: what was remembered, else the options that `perf record -h` names and what
the kernel refuses when it is asked; then what a perf that ends complains of; then, where its words tell nothing, every
feature is tried alone on a program that ends at once. So one missing feature costs no other, and the first perf that is
started on a node whose perf or kernel is old is the one that stays.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from necroscope import clock
from necroscope.errors import Unavailable
from necroscope.sense.environment import program_folders
from necroscope.sense.host import Host
from necroscope.sense.inventory import identify
from necroscope.sense.perf.launch.binaries import INSTALL, Binary, binaries, binary, options_of
from necroscope.sense.perf.launch.complaints import first_sentence, forbidden, refused_feature
from necroscope.sense.perf.launch.kernel_support import unknown_to_kernel
from necroscope.sense.perf.launch.options import FEATURES, Feature, PerfOptions, named
from necroscope.sense.perf.launch.process import Launched, launch, trial
from necroscope.sense.perf.launch.remembered import FILE, Remembered, forget, recall, remember
from necroscope.sense.perf.launch.session import PerfSession

# A perf that ends by itself sooner than this may have ended over what it was asked for.
EARLY_S = 60.0
# After so many such ends, without a word that tells why, perf is asked for the least.
_EARLY_ENDS = 2
_SEE = "see what `perf record --all-cpus -o /dev/null true` complains of"


class PerfStarter:
    """Starts one perf after another. `memory` is a folder of our own in which it keeps for the next run what it has
    learnt; `perf` a program to take instead of looking for one."""

    def __init__(
        self,
        host: Host,
        memory: Path | None = None,
        perf: str | None = None,
        unsupported: Callable[[], list[Feature]] = unknown_to_kernel,
    ) -> None:
        self._host, self._given, self._unsupported = host, perf, unsupported
        self._memory = memory / FILE if memory is not None else None
        self._asked = PerfOptions()
        self._perf: Binary | None = None
        self._lacks: list[Feature] = []
        self._guessed: set[str] = set()
        self._recalled = False
        self._kept: tuple[str, ...] | None = None
        self._early_ends = 0

    def sample_at(self, frequency_hz: int) -> None:
        """How often perfs that are started from now on sample."""
        self._asked = replace(self._asked, frequency_hz=frequency_hz)

    def start(self) -> PerfSession:
        """A perf whose stream has begun; `Unavailable` when there is none that does."""
        self._host.live_path("/proc")
        if (self._perf is None or binary(self._perf.path) != self._perf) and not self._recall():
            self._find()
        launched, options = self._launched()
        self._keep()
        return PerfSession(launched, options, tuple(options.lacking(self._asked)))

    def ended(self, session: PerfSession, hung: bool = False) -> bool:
        """Learn from a perf that ended by itself, or hung; True when the next may well do better and need not wait."""
        if session.age_s > EARLY_S:
            self._early_ends = 0
            return False
        feature = refused_feature(session.said, session.options)
        if feature is None and hung:
            feature = next((one for one in FEATURES if one.field == "wakes" and one.asked_by(session.options)), None)
        if feature is not None:
            return self._learn([feature])
        self._early_ends += 1
        return self._early_ends >= _EARLY_ENDS and self._learn(_optional(session.options), guessed=True)

    # -- which perf ----------------------------------------------------------------------------------------

    def _find(self) -> None:
        """Choose the program, and what is known beforehand that it or the kernel lacks."""
        self._perf, self._recalled, self._kept = None, False, None
        refusals = []
        for one in self._candidates():
            try:
                known = options_of(one)
            except Unavailable as error:
                refusals.append(error)
                continue
            self._perf = one
            self._lacks = [feature for feature in FEATURES if feature.option and feature.option not in known]
            self._learn(self._unsupported())
            return
        raise refusals[0] if refusals else _none_found()

    def _candidates(self) -> Iterable[Binary]:
        if self._given is None:
            return binaries(identify(self._host).kernel)
        found = binary(self._given)
        return [found] if found else []

    def _recall(self) -> bool:
        """Take what an earlier run has learnt, if there is any."""
        if self._memory is None:
            return False
        here = identify(self._host)
        found = recall(self._memory, here.kernel, here.boot_id, clock.now().realtime_ns)
        perf = binary(found.perf) if found else None
        if found is None or perf is None or perf.identity != found.identity or self._given not in (None, perf.path):
            return False
        self._perf, self._lacks, self._kept, self._recalled = perf, named(found.lacks), found.lacks, True
        return True

    def _keep(self) -> None:
        """Only what stays as long as perf and the kernel do: the rest may be there again at the next start."""
        self._recalled = False
        lacks = tuple(one.name for one in self._lacks if one.lasting and one.name not in self._guessed)
        if self._memory is None or self._perf is None or lacks == self._kept:
            return
        here, now_ns = identify(self._host), clock.now().realtime_ns
        perf = self._perf
        remember(self._memory, Remembered(perf.path, perf.identity, here.kernel, here.boot_id, lacks, now_ns))
        self._kept = lacks

    def _learn(self, features: list[Feature], guessed: bool = False) -> bool:
        """These are missing here; whether any of that is new."""
        new = [one for one in features if one not in self._lacks]
        self._lacks += new
        self._guessed |= {one.name for one in new if guessed}
        return bool(new)

    # -- with which options --------------------------------------------------------------------------------

    def _launched(self) -> tuple[Launched, PerfOptions]:
        """The first perf that begins."""
        tried_alone = False
        while True:
            assert self._perf is not None
            options = self._asked.without(self._lacks)
            said = _attempt(self._host, options, self._perf.path)
            if isinstance(said, Launched):
                return said, options
            feature = refused_feature(said, options)
            if self._recalled and self._memory is not None and (feature is None or feature.lasting):
                # What lasts was known when it was remembered: it was another perf, or another kernel.
                forget(self._memory)
                self._find()
                continue
            if feature is not None and self._learn([feature]):
                continue
            if refused := forbidden(said, self._host, os.geteuid() == 0):
                raise refused
            if tried_alone or not self._refused_alone(options):
                raise Unavailable(f"perf does not start: {first_sentence(said) or 'it ended at once'}", _SEE)
            tried_alone = True

    def _refused_alone(self, options: PerfOptions) -> bool:
        """Learn which features a trial with nothing else refuses, or that all of them together are too much. False when
        the least is refused too: then it is not for a feature."""
        assert self._perf is not None
        asked = _optional(options)
        if trial(self._host, options.without(asked), self._perf.path) is not None:
            return False
        refused = []
        for feature in asked:
            others = [one for one in asked if one is not feature]
            if trial(self._host, options.without(others), self._perf.path) is not None:
                refused.append(feature)
        return self._learn(refused) or self._learn(asked, guessed=True)


def _optional(options: PerfOptions) -> list[Feature]:
    """What these options ask for beyond the least. How perf is woken is no matter of a trial."""
    return [one for one in FEATURES if one.field != "wakes" and one.asked_by(options)]


def _attempt(host: Host, options: PerfOptions, perf: str) -> Launched | str:
    """A perf that has begun, or what it said when it ended."""
    try:
        launched = launch(host, options, perf)
    except OSError as error:
        raise Unavailable(f"perf cannot be started: {error.strerror}") from error
    if launched.began():
        return launched
    with contextlib.suppress(subprocess.TimeoutExpired):
        launched.process.wait(1.0)
    if launched.process.poll() is None:
        launched.process.kill()
        launched.process.wait()
    said = launched.said()
    launched.release()
    return said


def _none_found() -> Unavailable:
    there = next((path for folder in program_folders() if (path := Path(folder, "perf")).is_file()), None)
    if there is None:
        return Unavailable("perf is not installed", INSTALL)
    return Unavailable(
        f"{there} is not run: other users than root can write it, or a folder it lies in",
        f"give it to root (chown root, chmod go-w), or install the distribution's ({INSTALL})",
    )
