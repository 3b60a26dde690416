"""Plays scenarios, or takes recorded ones, asks `why` as users do, and judges the answers."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from necroscope import clock
from necroscope.errors import BadInput, NecroscopeError, Unavailable
from necroscope.lab.endings import orderly_end
from necroscope.lab.runner import SCHEMA, SHOWN, TRUTH, run
from necroscope.lab.scenario import Scenario
from necroscope.lab.scoring.asking import ask
from necroscope.lab.scoring.marking import Judgement, failed, judge

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A scenario that this machine cannot play, and what it lacks."""

    scenario: str
    because: str


def played(
    scenarios: Iterable[Scenario], seeds: Sequence[int], keep: Path | None, for_s: float, say: Say
) -> Iterator[Judgement | LeftOut]:
    """Play each scenario with each seed and judge it. Recordings go to `keep`/NAME-SEED, or away.

    A run that breaks off is judged as one that did not happen. A folder that is in the way is `BadInput`, before
    anything is played.
    """
    chosen = [(scenario, seed) for scenario in scenarios for seed in dict.fromkeys(seeds)]
    for scenario, seed in chosen:
        if keep is not None and (path := keep / f"{scenario.name}-{seed}").exists() and any(path.iterdir()):
            raise BadInput(f"{path} is not empty", "give another --store, or judge what is there with --recorded")
    absent: set[str] = set()
    for scenario, seed in chosen:
        if scenario.name in absent:
            continue
        say(f"{scenario.name}, seed {seed}")
        try:
            judgement = _played_once(scenario, seed, keep, for_s, say)
        except Unavailable as error:
            say(f"left out: {error.message}")
            absent.add(scenario.name)
            yield LeftOut(scenario.name, error.message)
            continue
        say(f"{scenario.name}, seed {seed}: {judgement.in_short}")
        yield judgement


def _played_once(scenario: Scenario, seed: int, keep: Path | None, for_s: float, say: Say) -> Judgement:
    import tempfile

    name = f"{SHOWN}{os.getpid()}-"
    with orderly_end(), contextlib.ExitStack() as ending:
        if keep is None:
            folder = Path(ending.enter_context(tempfile.TemporaryDirectory(prefix=name, ignore_cleanup_errors=True)))
        else:
            folder = keep / f"{scenario.name}-{seed}"
        try:
            run(scenario, seed, folder, for_s, say, asked=True)
        except (Unavailable, BadInput):
            raise
        except NecroscopeError as error:
            return failed(scenario.name, seed, error.message)
        return judged(folder)


def recorded(folder: Path, only: Sequence[str], seeds: Sequence[int] | None) -> Iterator[Judgement]:
    """Judge the recordings in a folder: each a folder with `store` and `truth.json`."""
    truths = sorted(folder.glob(f"*/{TRUTH}"))
    if not truths:
        raise BadInput(f"{folder} holds no recorded runs", "make some with `necroscope lab score --store DIR`")
    for run_folder in _chosen(folder, {path.parent: _truth(path) for path in truths}, only, seeds):
        yield judged(run_folder)


def _chosen(
    folder: Path, truths: dict[Path, dict[str, Any]], only: Sequence[str], seeds: Sequence[int] | None
) -> list[Path]:
    """The runs that were asked for; for a name or seeds without a run, the error lists those that there are."""
    names = sorted({str(truth["scenario"]) for truth in truths.values()})
    for name in only:
        if name not in names:
            raise BadInput(f"{folder} holds no run of {name!r}", f"known are {', '.join(names)}")
    named = {path: int(truth["seed"]) for path, truth in truths.items() if not only or truth["scenario"] in only}
    found = [path for path, seed in named.items() if seeds is None or seed in seeds]
    if not found:
        of = f" of {' or '.join(only)}" if only else ""
        raise BadInput(
            f"{folder} holds no run{of} with these seeds", f"known are {', '.join(map(str, sorted({*named.values()})))}"
        )
    return found


def judged(folder: Path) -> Judgement:
    """Ask `why` about the last symptom of a recorded run, and compare."""
    truth = _truth(folder / TRUTH)
    began_s = clock.elapsed_s()
    answer, complaint = ask(folder / "store", truth["symptom"]["at"] if truth["symptom"] else None)
    return judge(truth, answer, round(clock.elapsed_s() - began_s, 2), complaint)


def _truth(path: Path) -> dict[str, Any]:
    """The truth of a run, with everything in it that judging needs."""
    hint = "take the run's folder away, or play it again"
    try:
        truth: dict[str, Any] = json.loads(path.read_bytes())
        schema, whole = truth["schema"], _whole(truth)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}", hint) from error
    except (ValueError, KeyError, TypeError, RecursionError):
        schema, whole = SCHEMA, False
    if schema != SCHEMA:
        raise BadInput(f"{path} is a {str(schema)[:60]!r}, this version reads {SCHEMA}", hint)
    if not whole:
        raise BadInput(f"{path} is damaged, or is not the truth of a run", hint)
    return truth


def _whole(truth: dict[str, Any]) -> bool:
    cause, subject, symptom = truth["cause"], truth["subject"], truth["symptom"]
    texts = [truth["scenario"], *([] if symptom is None else [symptom["at"]])]
    if cause is not None:
        texts += [cause, subject["kind"], subject["name"]]
    shown = [(one["ok"], one["value"] or 0) for one in truth["happened"]["shown"]]
    texts += [one[field] for one in truth["happened"]["shown"] for field in ("text", "unit")]
    asked = truth.get("asked_at_once")
    return (
        all(isinstance(text, str) for text in texts)
        and (asked is None or _answered(asked["answered_s"], asked["cause"]))
        and isinstance(truth["seed"], int)
        and not isinstance(truth["seed"], bool)
        and isinstance(truth["cpu"], int | None)
        and all(isinstance(ok, bool) and isinstance(value, int | float) for ok, value in shown)
    )


def _answered(seconds: object, cause: object) -> bool:
    subject = cause.get("subject") if isinstance(cause, dict) else None
    return isinstance(seconds, int | float) and isinstance(cause, dict | None) and isinstance(subject, dict | None)
