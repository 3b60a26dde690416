"""Who leaks: cgroups that were left behind, joined to whoever they belonged to. Pure; for `scan` and `why` alike.

identity.py      whose a cgroup is, by its path          by_name.py, by_life.py   what bears a name; what was seen
accumulation.py  whose what has accumulated is           alignment.py, agreement.py   with restarts: in time, in number
attributor.py    attribute(facts, what): every leak      blame.py                 source(attribution): one, or nobody
strength.py, witnesses.py  how well it is shown          remedies.py, words.py    what to do; the words
from_scan.py     the facts of a scan; those of a recording are read by query/leaks/facts.py
"""

from __future__ import annotations

from necroscope.diagnose.leak.attribution import Attribution, Leak, LeakProcess, Witness
from necroscope.diagnose.leak.attributor import attribute
from necroscope.diagnose.leak.blame import source
from necroscope.diagnose.leak.from_scan import facts_of_scan

__all__ = ["Attribution", "Leak", "LeakProcess", "Witness", "attribute", "facts_of_scan", "source"]
