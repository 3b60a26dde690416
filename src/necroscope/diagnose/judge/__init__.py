"""The judge: from a `Case` to a `Verdict`, by hypotheses that compete. It reads nothing.

judge.py         the verdict                       conclusion.py    what is concluded of the best starvation
candidates.py    starvations with who was on them  suspects.py      who stands out of a line-up
suspect_facts.py the numbers                       mechanism.py     by what the time went
rivals.py        what else the numbers speak for   work_origin.py   who ordered work of other cores
recurrence.py    the same before other symptoms    others.py        who was looked at and not blamed
links.py, wording.py   links in words              missing.py       what was not recorded
"""

from __future__ import annotations

from necroscope.diagnose.judge.judge import judge
from necroscope.diagnose.judge.work_origin import orders_wanted

__all__ = ["judge", "orders_wanted"]
