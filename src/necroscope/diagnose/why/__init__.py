"""Why a symptom happened: the cause, its evidence, and the rivals it beat. Reads a store, changes nothing.

ask.py          the questions
symptom.py      which events are symptoms, and which one is meant         unreported.py  where nobody complained
scene.py        the time around it: cores, starved runs, quiet times      holes.py       and what was not recorded
candidates.py   starved cores with who was on them                        suspects.py, stretches.py
reason.py       what that means: facts.py, mechanism_of.py (catalogue: diagnose/mechanisms.toml), orders.py, and
leak_source.py  who leaks what was walked: diagnose/leak                  ledger_of_leaks.py, identity.py
recurrence.py   the same before other symptoms, and over boots
rivals.py       the standing list, tested                                 weigh.py       how sure it all is
explain.py      the verdict                                               tell.py, leak_words.py  its claims
inconclusive.py what the recording cannot tell: it was not made then, or cannot be read
"""

from necroscope.diagnose.why.ask import explain, explain_all, symptoms_of

__all__ = ["explain", "explain_all", "symptoms_of"]
