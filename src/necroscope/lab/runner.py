"""One run of a scenario from needs to truth: stage, play, measure, clean, write down."""

from __future__ import annotations

import contextlib
import inspect
import json
import math
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from necroscope import clock
from necroscope.clock import iso
from necroscope.errors import BadInput, NecroscopeError, Unavailable
from necroscope.lab.actors import decoys
from necroscope.lab.catalogue import OWN
from necroscope.lab.cleaning import clean_run, remove_stale_recordings
from necroscope.lab.endings import Ended, orderly_end, undisturbed
from necroscope.lab.needs import ALWAYS, NEEDS_HINT
from necroscope.lab.scenario import Need, Scenario, Subject, Truth
from necroscope.lab.scoring.asking import FirstAnswer
from necroscope.lab.stage import Stage
from necroscope.lab.undo_log import PREFIX, Entry, abandoned, one_at_a_time, open_undo_log

TRUTH = "truth.json"
# folders of recordings that are only made to be shown; a pid follows
SHOWN = f"{PREFIX}shown-"
SCHEMA = "necroscope.lab.truth/1"
SHORTEST_S, LONGEST_S = 3.0, 600.0
_GOES_ON = "cleaning up goes on: it takes some seconds"


class BrokeOff(NecroscopeError):
    """A play that did not come to its end, or not to a right one; whose file it is decides whose defect."""

    def __init__(self, scenario: Scenario, what: str) -> None:
        file = Path(inspect.getfile(scenario.play))
        ours = file.is_relative_to(OWN)
        super().__init__(f"{scenario.name} broke off: {what}", "" if ours else f"see {file}, and docs/lab.md")
        self.exit_code = 4 if ours else 2


class Spoiled(NecroscopeError):
    """A run whose recording does not hold what happened."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Shown:
    """What was measured for one demand of the scenario."""

    text: str
    value: float | None
    """None: it was not measured."""
    unit: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run that came to its end. `happened` is False when something that must show did not."""

    scenario: str
    seed: int
    store: Path
    truth: dict[str, Any]
    shown: tuple[Shown, ...]
    seconds: float

    @property
    def happened(self) -> bool:
        """True when everything showed that must."""
        return all(one.ok for one in self.shown)


def missing(scenario: Scenario) -> list[str]:
    """What this machine lacks for a scenario, in words."""
    needs = {need.name: need for need in (*ALWAYS, *scenario.needs)}
    found = [_missing(need) for need in needs.values()]
    return [text for text in dict.fromkeys(found) if text]


def _missing(need: Need) -> str:
    try:
        return need.missing()
    except Exception as error:
        return f"{need.name}, which cannot be checked ({type(error).__name__}: {error})"


def run(
    scenario: Scenario,
    seed: int,
    store: Path,
    for_s: float = 45.0,
    say: Callable[[str], None] = lambda text: None,
    beside: bool = False,
    asked: bool = False,
    followed_by: Callable[[Stage], None] | None = None,
) -> Outcome:
    """Play a scenario, record it, and leave the store and `truth.json` beside it. Leaves nothing else.

    `Unavailable` names what this machine lacks. Waits for another run that goes on, unless `beside`. With `asked`,
    somebody asks `why` as soon as there is a symptom, and the truth tells what that was answered. `followed_by` is
    called when the incident is over, before anything of it is taken away.
    """
    if lacking := missing(scenario):
        raise Unavailable(f"{scenario.name} cannot be played here without {'; '.join(lacking)}", NEEDS_HINT)
    if not SHORTEST_S <= for_s <= LONGEST_S:
        raise BadInput(f"a run cannot last {for_s:g} s", f"give --for from {SHORTEST_S:g}s to {LONGEST_S / 60:g}m")
    alone = one_at_a_time(lambda: say("another run goes on here: waiting for its end"))
    with orderly_end(), contextlib.nullcontext() if beside else alone:
        clean_abandoned(say)
        _make_folder(store)
        began_s = clock.elapsed_s()
        stage, truth, shown = _play(scenario, seed, store, for_s, say, asked, followed_by)
        document = _document(scenario, seed, stage, truth, shown)
        (store / TRUTH).write_text(json.dumps(document, indent=2) + "\n")
    return Outcome(scenario.name, seed, store, document, shown, clock.elapsed_s() - began_s)


def _make_folder(store: Path) -> None:
    """Just before the play: whoever waited in line with the same folder shall not be written over."""
    try:
        store.mkdir(parents=True, exist_ok=True)
        empty = not any(store.iterdir())
    except OSError as error:
        raise BadInput(f"{store} cannot be made: {error.strerror}", "give a folder that can be written") from error
    if not empty:
        raise BadInput(f"{store} is not empty", "give a folder of its own to each run")


def _play(
    scenario: Scenario,
    seed: int,
    store: Path,
    for_s: float,
    say: Callable[[str], None],
    asked: bool,
    followed_by: Callable[[Stage], None] | None,
) -> tuple[Stage, Truth, tuple[Shown, ...]]:
    undo_log = open_undo_log(_run_id())
    left: list[str] = []
    try:
        undo_log.add(Entry("cgroup", path=f"{PREFIX}{undo_log.run}"))
        with contextlib.ExitStack() as ending:
            stage = Stage(
                f"{scenario.name} {seed}", for_s, store / "store", undo_log, ending, say, decoys.drawn(scenario), asked
            )
            stage.followed_by = followed_by
            truth, shown = _to_its_end(scenario, stage)
    finally:
        with undisturbed(lambda: _say_if_possible(say, _GOES_ON)):
            _say_if_possible(say, "cleaning up")
            left = clean_run(undo_log)
    if left:
        raise NecroscopeError(f"the run left behind: {', '.join(left)}", "run `necroscope lab clean`")
    return stage, truth, shown


def clean_abandoned(say: Callable[[str], None] = lambda text: None) -> tuple[int, list[str]]:
    """Clean up after runs that were killed: how many there were, and what is still there."""
    undo_logs, left = abandoned(), []
    remove_stale_recordings(SHOWN)
    for undo_log in undo_logs:
        with undisturbed(lambda: _say_if_possible(say, _GOES_ON)):
            _say_if_possible(say, f"cleaning up after run {undo_log.run}")
            left += clean_run(undo_log)
    return len(undo_logs), left


def _say_if_possible(say: Callable[[str], None], text: str) -> None:
    """What must go on goes on although nobody can read it: the terminal may be closed, the disk full."""
    with contextlib.suppress(OSError):
        say(text)


def _to_its_end(scenario: Scenario, stage: Stage) -> tuple[Truth, tuple[Shown, ...]]:
    """Play and measure. A defect of the scenario's own code is reported as such."""
    try:
        truth = scenario.play(stage)
        _check(scenario, stage, truth)
        shown = tuple(_measure(scenario, stage))
    except (NecroscopeError, Ended):
        raise
    except SystemExit:
        raise BrokeOff(scenario, "it exits") from None
    except Exception as error:
        raise BrokeOff(scenario, f"{type(error).__name__}: {error}") from error
    if lost := stage.lost():
        raise Spoiled(lost, "give --store a place with more room, and let the recorder live")
    return truth, shown


def _check(scenario: Scenario, stage: Stage, truth: object) -> None:
    """`BrokeOff` where a truth cannot be right."""
    if not isinstance(truth, Truth):
        raise BrokeOff(scenario, f"it returns {type(truth).__name__}, not a Truth")
    if stage.recorder is None:
        raise BrokeOff(scenario, "nothing was recorded: it plays without stage.recording()")
    if truth.cause != scenario.cause:
        raise BrokeOff(scenario, f"its truth is {truth.cause!r}, and the scenario says {scenario.cause!r}")
    if truth.cause is not None and not isinstance(truth.subject, Subject):
        raise BrokeOff(scenario, "its truth has a cause and no Subject")
    json.dumps([truth.notes, stage.report.happened, truth.process, truth.pid, truth.cpu])
    if fallen := stage.fallen():
        raise BrokeOff(scenario, f"{', '.join(fallen)} did not live to its end")


def _measure(scenario: Scenario, stage: Stage) -> Iterator[Shown]:
    for show in scenario.shows:
        value = float(show.measure(stage))
        known = None if math.isnan(value) else round(value, 3)
        yield Shown(show.text, known, show.unit, show.at_least <= value <= show.at_most)


def _document(scenario: Scenario, seed: int, stage: Stage, truth: Truth, shown: tuple[Shown, ...]) -> dict[str, Any]:
    report = stage.report
    last = report.symptoms[-1] if report.symptoms else None
    return {
        "schema": SCHEMA,
        "scenario": scenario.name,
        "seed": seed,
        "symptom": {"kind": last.kind, "at": iso(last.at_ns), "text": last.text} if last else None,
        "symptoms": [{"kind": one.kind, "at": iso(one.at_ns), "text": one.text} for one in report.symptoms],
        "cpu": truth.cpu,
        "cause": truth.cause,
        "verdict": scenario.right,
        "subject": asdict(truth.subject) if truth.subject else None,
        "process": {"name": truth.process, "pid": truth.pid} if truth.process else None,
        "decoys": report.decoys,
        "episodes": [{"from": iso(one.began_ns), "to": iso(one.ended_ns)} for one in report.episodes],
        "asked_at_once": _asked(report.answer),
        "happened": {
            **report.happened,
            **truth.notes,
            "held_s": round(stage.held_s(), 2),
            "held_in_kernel_s": round(stage.held_s("system"), 2),
            "victim_stalled_s": round(stage.stalled_s(), 2),
            "echo_took_s": round(stage.victims.longest_s("slow-echo"), 2),
            "shown": [asdict(one) for one in shown],
        },
    }


def _asked(answer: FirstAnswer | None) -> dict[str, Any] | None:
    if answer is None:
        return None
    return {"answered_s": answer.seconds, **{name: answer.document.get(name) for name in ("verdict", "cause")}}


def _run_id() -> str:
    """Letters only: names of two runs never look like numbers of one family."""
    draw = random.SystemRandom()
    return "".join(draw.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(6)) + f"{os.getpid():x}".translate(
        str.maketrans("0123456789", "ghijklmnop")
    )
