"""What a core usually does: the shares of its time in quiet times, by mode."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from necroscope.query.case.starvation.numbers import Numbers
from necroscope.query.cores.core_time import CoreTime
from necroscope.vocabulary.case import Run
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.model import MODES


def usual_modes(times: CoreTime, run: Run, quiet: Sequence[Window]) -> Numbers:
    """`core_user_before`, `core_steal_before` and so on; nothing where no counter tells of quiet times."""
    own = times.close().of(frozenset({run.cpu}))
    spent = np.zeros(len(MODES))
    for window in quiet:
        near = own.within(window)
        spent += (near.spent * near.share_in(window)[:, None]).sum(axis=0)
    total = float(spent.sum())
    if not total:
        return {}
    return {
        f"core_{mode}_before": float(value) / total for mode, value in zip(MODES, spent, strict=True) if mode != "idle"
    }
