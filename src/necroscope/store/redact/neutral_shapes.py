"""Neutral names that keep their shape: who judges a redacted case finds the same units, containers and families.

    /system.slice/acme-agent.service          ->  /system.slice/unit-ovqk.service
    /docker/3f5c90aa27d1…, container 3f5c90aa27d1  ->  /docker/b06e7714ca93…, container b06e7714ca93
    /user.slice/user-1000.slice               ->  /user.slice/user-5283.slice

Words give way to tokens of letters; ids and numbers, as `cgroup_family` finds them, to ids and numbers of the same
length. Two ids that begin alike still begin alike and no further, because engines and paths cut them short: each digit
is shifted by a keyed hash of all before it (as Crypto-PAn does with addresses). What container engines, systemd and
Kubernetes call the same on every machine stays.
"""

from __future__ import annotations

import hashlib
import re

from necroscope.store.redact.neutral_names import USUAL, Names
from necroscope.vocabulary.cgroup_family import segment_pattern

# None of these letters is a hexadecimal digit, so that no token looks like an id.
_LETTERS = str.maketrans("0123456789abcdef", "ghijklmnopqrstuv")
_CLASSES = ("0123456789", "abcdef", "ABCDEF", "ghijklmnopqrstuvwxyz", "GHIJKLMNOPQRSTUVWXYZ")
_LOWER, _UPPER = "0123456789abcdef", "0123456789ABCDEF"
_IN_A_SENTENCE = "name"
_PLACEHOLDER = re.compile(r"(<id>|<n>)")
_UNIT = re.compile(r"\.(?:service|slice|scope|socket|mount|timer|path|target|device|swap|automount)")
_USUAL = re.compile(
    r"(?:(?:cri-o|crio|cri|docker|podman|libpod|conmon|lxc|lxd|incus|machine|kubepods|containerd|garden|nomad|buildkit"
    r"|burstable|besteffort|guaranteed|pod|payload|supervisor|system|user|app|session|run|init|vte|spawn)"
    r"(?![A-Za-z])[-_.:@]*)*"
)
# A word with the marks around it.
_WORD = re.compile(r"([ -/:-@\[-`{-~]*)(.*?)([ -/:-@\[-`{-~]*)", re.DOTALL)
_RUN = re.compile(r"[0-9A-Za-z]+")


class ShapedNames(Names):
    """The tokens of one case."""

    def __init__(self, key: bytes | None = None) -> None:
        super().__init__(key)
        self._sorts: dict[str, str] = {}
        self._segments: dict[str, str] = {}

    def token(self, sort: str, name: str) -> str:
        """What stands for a name: letters only. A name in a sentence is of the sort as which it was met before."""
        known = self._sorts.setdefault(name, sort)
        digits = super().token("", name)[1:]
        return f"{known if sort == _IN_A_SENTENCE else sort}-{digits.translate(_LETTERS)}"

    def unit(self, name: str) -> str:
        """A unit, as it is called in a path."""
        return self._segment(name)

    def identity(self, text: str) -> str:
        """An id or a number: every run of letters and digits in it becomes another one of its shape."""
        return _RUN.sub(lambda found: self._shifted(found[0]), text)

    def _segment(self, name: str) -> str:
        found = self._segments.get(name)
        if found is None:
            found = self._segments[name] = self._shaped(name)
        return found

    def _shaped(self, name: str) -> str:
        if name in USUAL:
            return name
        shape = segment_pattern(name)
        parts = _PLACEHOLDER.split(shape)
        aligned = re.fullmatch(
            "".join("(.+?)" if _is_placeholder(one) else f"({re.escape(one)})" for one in parts), name
        )
        end = _UNIT.search(name)
        sort = "unit" if end is not None and end.end() == len(name) else "cgroup"
        if aligned is not None:
            words = [one if _is_placeholder(one) else self._literal(one, sort, at > 0) for at, one in enumerate(parts)]
            made = [self._filled(one, text) for one, text in zip(words, aligned.groups(), strict=True)]
            if segment_pattern("".join(made)) == "".join(words):
                return "".join(made)
        return self.token(sort, name) + (end[0] if sort == "unit" and end is not None else "")

    def _filled(self, part: str, text: str) -> str:
        """A placeholder with an id or a number in it again, unless the name itself had none."""
        return self.identity(text) if _is_placeholder(part) and text != part else part

    def _literal(self, text: str, sort: str, after_id: bool) -> str:
        """What is no id: words that are usual at its beginning, and the sort of a unit at its end, stay."""
        end = _UNIT.search(text) if sort == "unit" else None
        text, suffix = (text[: end.start()], end[0]) if end is not None and end.end() == len(text) else (text, "")
        usual = _USUAL.match(text)
        kept = usual[0] if usual is not None else ""
        before, word, after = _WORD.fullmatch(text[len(kept) :]).groups()  # type: ignore[union-attr]
        before = before or ("-" if after_id and word and not kept else "")
        return f"{kept}{before}{self.token(sort, word) if word else ''}{after}{suffix}"

    def _shifted(self, run: str) -> str:
        """Digits of all sixteen where that leaves what it looks like; else each stays of its sort."""
        for alphabet in (_LOWER, _UPPER):
            if all(letter in alphabet for letter in run) and not run.isdigit():
                made = self._of(run, (alphabet,))
                if segment_pattern(made) == segment_pattern(run):
                    return made
        return self._of(run, _CLASSES)

    def _of(self, run: str, alphabets: tuple[str, ...]) -> str:
        made = ""
        for place, letter in enumerate(run):
            among = next(one for one in alphabets if letter in one)
            digest = hashlib.blake2b(run[:place].encode(), key=self._key, digest_size=4).digest()
            made += among[(among.index(letter) + int.from_bytes(digest, "little")) % len(among)]
        return made


def _is_placeholder(part: str) -> bool:
    return part in ("<id>", "<n>")
