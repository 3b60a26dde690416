"""Short names of months in the languages in which dmesg, journalctl and syslog daemons write dates.

Names are glibc's, without the dot behind them. No name stands for two months; Croatian is left out, whose `lis` is
October and not, as in Czech and Polish, November.
"""

from __future__ import annotations

import re
from functools import cache

ENGLISH = b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
NAMES = (
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "jan feb mär apr mai jun jul aug sep okt nov dez",  # German
    "jän feb mär apr mai jun jul aug sep okt nov dez",  # German, Austria
    "janv févr mars avril mai juin juil août sept oct nov déc",  # French
    "ene feb mar abr may jun jul ago sep oct nov dic",  # Spanish
    "gen feb mar apr mag giu lug ago set ott nov dic",  # Italian
    "jan fev mar abr mai jun jul ago set out nov dez",  # Portuguese
    "jan feb mrt apr mei jun jul aug sep okt nov dec",  # Dutch
    "sty lut mar kwi maj cze lip sie wrz paź lis gru",  # Polish
    "led úno bře dub kvě čen čec srp zář říj lis pro",  # Czech
    "jan feb mar apr máj jún júl aug sep okt nov dec",  # Slovak
    "jan feb mar apr maj jun jul aug sep okt nov dec",  # Swedish, Danish
    "jan feb mars april mai juni juli aug sep okt nov des",  # Norwegian
    "tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu",  # Finnish
    "jaan veebr märts apr mai juuni juuli aug sept okt nov dets",  # Estonian
    "saus vas kov bal geg birž liep rugp rugs spal lapkr gruod",  # Lithuanian
    "jan feb mar apr mai jūn jūl aug sep okt nov dec",  # Latvian
    "янв фев мар апр мая июн июл авг сен окт ноя дек",  # Russian
    "січ лют бер кві тра чер лип сер вер жов лис гру",  # Ukrainian
    "яну фев мар апр май юни юли авг сеп окт ное дек",  # Bulgarian
    "jan febr márc ápr máj jún júl aug szept okt nov dec",  # Hungarian
    "ian feb mar apr mai iun iul aug sep oct nov dec",  # Romanian
    "jan feb mar apr maj jun jul avg sep okt nov dec",  # Slovenian
    "oca şub mar nis may haz tem ağu eyl eki kas ara",  # Turkish
    "ιαν φεβ μαρ απρ μαΐ ιουν ιουλ αυγ σεπ οκτ νοε δεκ",  # Greek
    "ιαν φεβ μάρ απρ μάι ιούν ιούλ αύγ σεπ οκτ νοέ δεκ",  # Greek, by itself
)
_NUMBERED = re.compile(r"(\d{1,2})[月월]", re.ASCII)  # Chinese, Japanese, Korean
_LONGEST = 24


def month_of(name: bytes) -> int | None:
    """The number of a month, 1 to 12; None for what is none."""
    if len(name) > _LONGEST:
        return None
    word = name.decode("utf-8", "replace").rstrip(".").lower()
    if (found := _NUMBERED.fullmatch(word)) is not None:
        number = int(found[1])
        return number if 1 <= number <= 12 else None
    return _numbers().get(word)


@cache
def _numbers() -> dict[str, int]:
    return {name: number for names in NAMES for number, name in enumerate(names.split(), 1)}
