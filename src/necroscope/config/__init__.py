"""What an operator may set: a TOML file and the environment become frozen values.

setting.py    what one setting is: its kind, its default, what it means
settings.py   all of them, by section
own_files.py  files that users add to a catalogue of ours
reading.py    file and environment -> `Config`; whatever is not known is refused, with a suggestion
"""

from __future__ import annotations

from necroscope.config.reading import DEFAULT_FILE, from_table, load
from necroscope.config.settings import Config, CpuLimits, CrashLoopLimits, ZombieLimits

__all__ = ["DEFAULT_FILE", "Config", "CpuLimits", "CrashLoopLimits", "ZombieLimits", "from_table", "load"]
