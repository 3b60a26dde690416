"""The day that somebody wrote into a file's name, for logs whose lines name no year: `kern.log-20261116.gz`."""

from __future__ import annotations

import re
from datetime import date

_DAY = re.compile(r"(?<!\d)(20\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])")


def day_in_name(name: str) -> date | None:
    """The first day in a name, with or without a time behind it; None when there is none."""
    for found in _DAY.finditer(name[-255:]):
        try:
            return date(int(found[1]), int(found[3]), int(found[4]))
        except ValueError:
            continue
    return None
