"""The old place of `diagnose/leak/alignment.py`."""

from __future__ import annotations

from necroscope.diagnose.leak.alignment import Alignment, align

__all__ = ["Alignment", "align"]
