"""What the cores did: time counters, heat maps, starved cores, patterns.

What counts as starved before a symptom is data: `query/case/cores/starvation_kinds.toml`; `starved.py` finds it.
"""
