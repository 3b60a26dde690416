"""What can be the reason of a starved core, as data: mechanisms and rivals, one type, tested on a case's numbers.

hypothesis.py    the type          stack_match.py   against stacks      fact_checks.py   against numbers
catalogue.py     mechanisms.toml, rivals.toml, users' files   entry.py, values.py   an entry's fields, checked
"""

from __future__ import annotations

from necroscope.diagnose.hypotheses.catalogue import Catalogue, Warned, catalogue, load
from necroscope.diagnose.hypotheses.fact_checks import Judged, judge_facts
from necroscope.diagnose.hypotheses.hypothesis import Advice, Check, Hypothesis, OrderedBy, Storm
from necroscope.diagnose.hypotheses.stack_match import Match, match, share_in

__all__ = ["Advice", "Catalogue", "Check", "Hypothesis", "Judged", "Match", "OrderedBy", "Storm", "Warned"]
__all__ += ["catalogue", "judge_facts", "load", "match", "share_in"]
