"""From a recording to a verdict: a case is read (`query/case`), then judged (`diagnose/judge`).

ask.py            the questions
unreported.py     starvation that nobody reported
inconclusive.py   what a recording cannot tell
"""

from __future__ import annotations

from necroscope.explain.ask import answer, case_of, explain, explain_all, explain_unreported, symptoms_of

__all__ = ["answer", "case_of", "explain", "explain_all", "explain_unreported", "symptoms_of"]
