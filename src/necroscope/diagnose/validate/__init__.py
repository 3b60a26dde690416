"""Did a change help? Three answers from both sides of it, each with what confirms it. Pure.

growth.py    have the leak and the restarts stopped         residue.py   what is left, and when it will matter
symptoms.py  are symptoms and starved cores gone            measures.py  throttling, reclaim and pressure
enough.py    how long one must look to have seen something that comes now and then
"""

from __future__ import annotations

from necroscope.diagnose.validate.judge import judge_validation

__all__ = ["judge_validation"]
