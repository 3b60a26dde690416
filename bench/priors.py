"""What follows when a prior is wrong: each changed by 30 % in both directions, over recordings whose truth is known.

NECROSCOPE_BENCH_RUNS: a folder that `necroscope lab score --store` filled. Each recording is read once, as a case; the
verdict with the priors as they are is compared with those with one of them changed.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path

from necroscope.diagnose.hypotheses import Catalogue, catalogue
from necroscope.diagnose.judge import judge
from necroscope.diagnose.priors import PRIORS, Priors
from necroscope.errors import BadInput
from necroscope.explain import case_of
from necroscope.lab.scoring.marking import judge as compared
from necroscope.show.why.document import why_document
from necroscope.store.read.reader import Store
from necroscope.vocabulary.case import Case

FACTORS = (0.7, 1.3)
Run = tuple[str, dict[str, object], Case]


def main() -> None:
    """Print the table: what becomes of verdicts that are right with the priors as they are."""
    folder = os.environ.get("NECROSCOPE_BENCH_RUNS", "")
    if not folder:
        sys.exit("NECROSCOPE_BENCH_RUNS names no folder of recordings (necroscope lab score --store FOLDER)")
    known = catalogue()
    runs = list(_runs(Path(folder)))
    right = [run for run in runs if _mark(run, known, PRIORS) == "right"]
    turned: Counter[str] = Counter()
    names = [one.name for one in fields(Priors)]
    for name in names:
        for factor in FACTORS:
            priors = changed(name, factor)
            for run in right:
                mark = _mark(run, known, priors)
                turned[mark] += 1
                if mark == "wrong":
                    print(f"{run[0]}: wrong with {name} x {factor}", flush=True)
    print(f"\n{len(runs)} recordings, {len(right)} right; {len(names)} priors, each by {FACTORS}\n")
    print("| verdicts | right | abstained | wrong |\n|---|---|---|---|")
    print(f"| {sum(turned.values()):,} | {turned['right']:,} | {turned['abstained']:,} | {turned['wrong']:,} |")


def changed(name: str, factor: float) -> Priors:
    """The table with one prior changed; a strength or a share is never above 1."""
    value = getattr(PRIORS, name)
    if isinstance(value, int):
        return replace(PRIORS, **{name: max(1, round(value * factor))})
    return replace(PRIORS, **{name: min(1.0, value * factor) if value <= 1 else value * factor})


def _runs(folder: Path) -> list[Run]:
    found = []
    for truth in sorted(folder.glob("*/truth.json")):
        try:
            case = case_of(Store(truth.parent / "store"))
        except BadInput:
            continue  # a healthy node, without a symptom: there is no case
        found.append((truth.parent.name, json.loads(truth.read_text("utf-8")), case))
    return found


def _mark(run: Run, known: Catalogue, priors: Priors) -> str:
    return compared(run[1], why_document(judge(run[2], known, priors))).mark


if __name__ == "__main__":
    main()
