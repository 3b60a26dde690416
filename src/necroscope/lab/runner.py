"""One run of a scenario from needs to truth: stage, play, measure, clean, write down."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from necroscope import clock
from necroscope.clock import iso
from necroscope.errors import BadInput, NecroscopeError, Unavailable
from necroscope.lab import decoys
from necroscope.lab.asking import FirstAnswer
from necroscope.lab.cleaning import clean_run, remove_stale_recordings
from necroscope.lab.ledger import PREFIX, Entry, abandoned, one_at_a_time, open_ledger
from necroscope.lab.needs import ALWAYS
from necroscope.lab.scenario import Scenario, Truth
from necroscope.lab.stage import Stage

TRUTH = "truth.json"
# folders of recordings that are only made to be shown; a pid follows
SHOWN = f"{PREFIX}shown-"
SCHEMA = "necroscope.lab.truth/1"


@dataclass(frozen=True, slots=True)
class Shown:
    """What was measured for one demand of the scenario."""

    text: str
    value: float
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
    found = [need.missing() for need in needs.values()]
    return [text for text in dict.fromkeys(found) if text]


def run(
    scenario: Scenario,
    seed: int,
    store: Path,
    for_s: float = 45.0,
    say: Callable[[str], None] = lambda text: None,
    beside: bool = False,
    asked: bool = False,
) -> Outcome:
    """Play a scenario, record it, and leave the store and `truth.json` beside it. Leaves nothing else.

    `Unavailable` names what this machine lacks. Waits for another run that goes on, unless `beside`. With `asked`,
    somebody asks `why` as soon as there is a symptom, and the truth tells what that was answered.
    """
    if lacking := missing(scenario):
        raise Unavailable(f"{scenario.name} cannot be played here without {'; '.join(lacking)}")
    if store.exists() and any(store.iterdir()):
        raise BadInput(f"{store} is not empty", "give a folder of its own to each run")
    alone = one_at_a_time(lambda: say("another run goes on here: waiting for its end"))
    with contextlib.nullcontext() if beside else alone:
        clean_abandoned(say)
        began_s = clock.elapsed_s()
        stage, truth, shown = _play(scenario, seed, store, for_s, say, asked)
    document = _document(scenario, seed, stage, truth, shown)
    (store / TRUTH).write_text(json.dumps(document, indent=2) + "\n")
    return Outcome(scenario.name, seed, store, document, shown, clock.elapsed_s() - began_s)


def _play(
    scenario: Scenario, seed: int, store: Path, for_s: float, say: Callable[[str], None], asked: bool
) -> tuple[Stage, Truth, tuple[Shown, ...]]:
    ledger = open_ledger(_run_id())
    ledger.add(Entry("cgroup", path=f"{PREFIX}{ledger.run}"))
    store.mkdir(parents=True, exist_ok=True)
    left: list[str] = []
    try:
        with _orderly_end(), contextlib.ExitStack() as ending:
            stage = Stage(
                f"{scenario.name} {seed}", for_s, store / "store", ledger, ending, say, decoys.drawn(scenario), asked
            )
            truth = scenario.play(stage)
            shown = tuple(_measure(scenario, stage))
    finally:
        say("cleaning up")
        left = clean_run(ledger)
    if left:
        raise NecroscopeError(f"the run left behind: {', '.join(left)}", "run `necroscope lab clean`")
    return stage, truth, shown


def clean_abandoned(say: Callable[[str], None] = lambda text: None) -> tuple[int, list[str]]:
    """Clean up after runs that were killed: how many there were, and what is still there."""
    ledgers, left = abandoned(), []
    remove_stale_recordings(SHOWN)
    for ledger in ledgers:
        say(f"cleaning up after run {ledger.run}")
        left += clean_run(ledger)
    return len(ledgers), left


@contextlib.contextmanager
def _orderly_end() -> Iterator[None]:
    """SIGTERM and a closed terminal end a run as Ctrl-C does: everything is undone."""

    def leave(number: int, _: object) -> None:
        sys.exit(128 + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _measure(scenario: Scenario, stage: Stage) -> Iterator[Shown]:
    for show in scenario.shows:
        value = show.measure(stage)
        yield Shown(show.text, round(value, 3), show.unit, show.at_least <= value <= show.at_most)


def _document(scenario: Scenario, seed: int, stage: Stage, truth: Truth, shown: tuple[Shown, ...]) -> dict[str, Any]:
    told = stage.told
    last = told.symptoms[-1] if told.symptoms else None
    return {
        "schema": SCHEMA,
        "scenario": scenario.name,
        "seed": seed,
        "symptom": {"kind": last.kind, "at": iso(last.at_ns), "text": last.text} if last else None,
        "symptoms": [{"kind": one.kind, "at": iso(one.at_ns), "text": one.text} for one in told.symptoms],
        "cpu": truth.cpu,
        "cause": truth.cause,
        "verdict": scenario.right,
        "subject": asdict(truth.subject) if truth.subject else None,
        "process": {"name": truth.process, "pid": truth.pid} if truth.process else None,
        "decoys": told.decoys,
        "episodes": [{"from": iso(one.began_ns), "to": iso(one.ended_ns)} for one in told.episodes],
        "asked_at_once": _asked(told.answer),
        "happened": {
            **told.happened,
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
