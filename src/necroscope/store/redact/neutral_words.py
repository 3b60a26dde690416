"""Sentences without names: words that every such sentence has stay, numbers stay, everything else becomes a token.

The known words are those of the catalogue of symptoms and of this program's own events. A word that is not known is
taken for a name, so a name that nobody thought of does not get through.
"""

from __future__ import annotations

import re
from functools import cache

from necroscope.sense.log.symptoms import catalogue
from necroscope.store.redact import kernel_words
from necroscope.store.redact.neutral_names import Names, is_unit

# What separates words; a name such as a-b.service or a::b is one word.
_WORD = re.compile(r"[^\s()\[\]{}<>\"'`,;=!?|#…]+")
_EDGES = re.compile(r"([.:×~+-]*)(.*?)([.:]*)", re.DOTALL)
_ESCAPES = re.compile(r"\\.|\(\?P?<\w+>|[{}]\d+,?\d*[{}]")
_NUMBER = re.compile(
    r"\d{1,11}([.,]\d{1,9})?([nuµm]?s|min|[hdx%k]|[kmgt]?i?b|[mg]?hz)?|\d{1,3}(,\d{3})+|0x[0-9a-f]{1,8}"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?|\d\d:\d\d:\d\d(\.\d+)?",
    re.IGNORECASE,
)
_TASK = re.compile(r"(.+):(\d{1,10})", re.DOTALL)

_OWN = """
a after all an and anonymous answer answers are as asked at because before began being behind boot booted bounded bug
by bytes cannot cgroup cgroups clock code container containers core cores could cpu cpus dead device did died disk does
dropped dumped each empty emptied end ended engine everything exceeded exit exited exit-code failed failure failures
for frame free freed from full goodbye got had has have here hierarchy host hours how image in inactive active
activating deactivating all auto-restart build counter every give ids mappings may one options taken walk zombie
zombies invoked is it its job journal kept kernel killed last late level limit line lines link log look lost machine
made mark mask memory more msecs much nobody no node not nothing now of off on only oom-killer oom_score_adj gfp_mask
gfp_kernel order out perf pid process processes queue read reason recorded recorder records resumed ring rows run
running s samples sampling says second seconds see seen sees segments sensor sensors set signal since slept so started
starts state status step stepped stopped store stream stuck success systemd take tasks than that the their they this
time times to too took training unit units unknown until usecs wait waited was were what which who why with without
work worker would clean long shutdown
"""


@cache
def known_words() -> frozenset[str]:
    """Words that name nobody, in lower case."""
    known = catalogue()
    texts = [f"{kind.name} {kind.help}" for kind in known.kinds.values()]
    texts += [f"{pattern.literal} {_ESCAPES.sub(' ', pattern.regex)}" for pattern in known.patterns]
    found = {edged[2].lower() for text in texts for word in _WORD.findall(text) if (edged := _EDGES.fullmatch(word))}
    drivers = {driver for pattern in known.patterns for driver in pattern.drivers}
    return frozenset({*_OWN.split(), *found, *drivers})


def neutral_sentence(names: Names, text: str) -> str:
    """The sentence without names."""
    return _WORD.sub(lambda found: _edged(names, found[0]), text)


def _edged(names: Names, word: str) -> str:
    edged = _EDGES.fullmatch(word)
    before, inner, after = edged.groups() if edged else ("", word, "")
    return f"{before}{_neutral(names, inner)}{after}"


def _neutral(names: Names, word: str) -> str:
    if not any(map(str.isalnum, word)) or _NUMBER.fullmatch(word) or word.lower() in known_words():
        return word
    if kernel_words.device(word) or kernel_words.kernel_thread(word) or kernel_words.kernel_file(word):
        return word
    task = _TASK.fullmatch(word)
    if task is not None and (":" not in task[1] or kernel_words.kernel_thread(task[1])):
        return f"{_neutral(names, task[1])}:{task[2]}"
    if word.startswith("/"):
        return names.path(word)
    return names.unit(word) if is_unit(word) else names.token("name", word)
