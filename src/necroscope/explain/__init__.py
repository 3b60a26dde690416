"""From a recording to a verdict: a case is read (`query/case`), then judged (`diagnose/judge`).

ask.py            the questions
unreported.py     starvation that nobody reported
every.py          all symptoms, by cause
inconclusive.py   questions that a recording cannot answer
mechanism_files.py  hypotheses of users' own
"""

from __future__ import annotations

from necroscope.explain.ask import answer, case_of, explain, explain_all, explain_unreported, symptoms_of

__all__ = ["answer", "case_of", "explain", "explain_all", "explain_unreported", "symptoms_of"]
