"""Rust's mangling scheme of today, v0 (`_R...`, RFC 2603), read into names for people; other names stay as they are.

What only tells two things of one name apart (hashes of crates, lifetimes) is left out. A name can refer back to its own
parts, so that a short one unfolds to a huge one: the parts read, their nesting and the length are bounded, and what
goes beyond, or is of a form that is not known here, stays mangled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

_PARTS_MOST = 2_000
_DEEPEST = 64
_LONGEST = 4_096
_BASE_62 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_BASIC = {
    "a": "i8", "b": "bool", "c": "char", "d": "f64", "e": "str", "f": "f32", "h": "u8", "i": "isize", "j": "usize",
    "l": "i32", "m": "u32", "n": "i128", "o": "u128", "p": "_", "s": "i16", "t": "u16", "u": "()", "v": "...",
    "x": "i64", "y": "u64", "z": "!",
}  # fmt: skip
_INTEGERS = frozenset("ahijlmnostxy")


class _NotReadable(ValueError):
    """Not v0, or more of it than is unfolded."""


def readable(name: str) -> str | None:
    """The readable name; None for what is no v0 name, or unfolds too far."""
    text = name[2:].partition(".")[0]
    if not name.startswith("_R") or not text.isascii() or not text[:1].isupper():
        return None
    try:
        return _Reader(text).path(in_type=False)
    except (_NotReadable, ValueError, OverflowError):
        return None


class _Reader:
    """The text after `_R`, read from `place` on; back references are places in it."""

    def __init__(self, text: str) -> None:
        self._text, self._place = text, 0
        self._parts, self._depth = 0, 0

    def path(self, in_type: bool) -> str:
        """Where something is: crate, modules, type or trait, and its generic arguments."""
        with_turbofish = "" if in_type else "::"
        match self._next():
            case "C":
                return self._identifier()[1]
            case "N":
                return self._nested(in_type)
            case "M":
                self._implementation()
                return f"<{self._inner(self._type)}>"
            case "X":
                self._implementation()
                return self._as_trait()
            case "Y":
                return self._as_trait()
            case "I":
                head = self._inner(lambda: self.path(in_type))
                return self._bounded(f"{head}{with_turbofish}<{', '.join(self._until_end(self._argument))}>")
            case "B":
                return self._back(lambda: self.path(in_type))
        raise _NotReadable

    def _nested(self, in_type: bool) -> str:
        kind = self._next()
        head = self._inner(lambda: self.path(in_type))
        number, name = self._identifier()
        if kind.islower():
            return self._bounded(f"{head}::{name}" if name else head)
        word = {"C": "closure", "S": "shim"}.get(kind, kind)
        return self._bounded(f"{head}::{{{word}{':' if name else ''}{name}#{number}}}")

    def _as_trait(self) -> str:
        of = self._inner(self._type)
        return self._bounded(f"<{of} as {self._inner(lambda: self.path(in_type=True))}>")

    def _implementation(self) -> None:
        """Where an `impl` is written, which its type tells well enough."""
        self._disambiguator()
        self._inner(lambda: self.path(in_type=False))

    def _argument(self) -> str:
        if self._taken("L"):
            self._number()
            return "'_"
        return self._constant() if self._taken("K") else self._inner(self._type)

    def _type(self) -> str:
        letter = self._next()
        if letter in _BASIC:
            return _BASIC[letter]
        match letter:
            case "A":
                of = self._inner(self._type)
                return self._bounded(f"[{of}; {self._constant()}]")
            case "S":
                return self._bounded(f"[{self._inner(self._type)}]")
            case "T":
                inner = list(self._until_end(lambda: self._inner(self._type)))
                return self._bounded(f"({', '.join(inner)}{',' * (len(inner) == 1)})")
            case "R" | "Q":
                if self._taken("L"):
                    self._number()
                return self._bounded(f"&{'mut ' * (letter == 'Q')}{self._inner(self._type)}")
            case "P" | "O":
                return self._bounded(f"*{'const' if letter == 'P' else 'mut'} {self._inner(self._type)}")
            case "F":
                return self._function()
            case "D":
                return self._dynamic()
            case "B":
                return self._back(self._type)
        self._place -= 1
        return self.path(in_type=True)

    def _function(self) -> str:
        self._binder()
        unsafe = "unsafe " * self._taken("U")
        abi = ""
        if self._taken("K"):
            abi = 'extern "{}" '.format("C" if self._taken("C") else self._plain_identifier().replace("_", "-"))
        parameters = ", ".join(self._until_end(lambda: self._inner(self._type)))
        gives = self._inner(self._type)
        return self._bounded(f"{unsafe}{abi}fn({parameters}){'' if gives == '()' else f' -> {gives}'}")

    def _dynamic(self) -> str:
        self._binder()
        traits = " + ".join(self._until_end(self._trait))
        if not self._taken("L"):
            raise _NotReadable
        self._number()
        return self._bounded(f"dyn {traits}")

    def _trait(self) -> str:
        head = self._inner(lambda: self.path(in_type=True))
        bound: list[str] = []
        while self._taken("p"):
            name = self._plain_identifier()
            bound.append(f"{name} = {self._inner(self._type)}")
        if not bound:
            return head
        start = f"{head[:-1]}, " if head.endswith(">") else f"{head}<"
        return self._bounded(f"{start}{', '.join(bound)}>")

    def _constant(self) -> str:
        kind = self._next()
        if kind == "B":
            return self._back(self._constant)
        if kind == "p":
            return "_"
        minus = "-" * self._taken("n")
        digits, _, _ = self._text[self._place :].partition("_")
        self._place += len(digits)
        self._expect("_")
        value = int(digits or "0", 16)
        if kind in _INTEGERS:
            return f"{minus}{value}"
        if kind == "b" and value < 2:
            return "true" if value else "false"
        if kind == "c":
            return repr(chr(value))
        raise _NotReadable

    # -- words and numbers -----------------------------------------------------------------------------------

    def _identifier(self) -> tuple[int, str]:
        return self._disambiguator(), self._plain_identifier()

    def _disambiguator(self) -> int:
        return self._number() + 1 if self._taken("s") else 0

    def _binder(self) -> None:
        if self._taken("G"):
            self._number()

    def _plain_identifier(self) -> str:
        foreign = self._taken("u")
        length = 0 if self._taken("0") else self._length()
        self._taken("_")
        word = self._text[self._place : self._place + length]
        if len(word) != length:
            raise _NotReadable
        self._place += length
        return _from_punycode(word) if foreign else word

    def _length(self) -> int:
        start = self._place
        while self._text[self._place : self._place + 1].isdigit():
            self._place += 1
        return int(self._text[start : self._place])

    def _number(self) -> int:
        digits, end, _ = self._text[self._place :].partition("_")
        if not end:
            raise _NotReadable
        self._place += len(digits) + 1
        value = 0
        for letter in digits[:12]:
            value = value * 62 + _BASE_62.index(letter)
        return value + 1 if digits else 0

    # -- bounds ----------------------------------------------------------------------------------------------

    def _back(self, read: Callable[[], str]) -> str:
        start = self._place - 1
        target = self._number()
        if target >= start:
            raise _NotReadable
        after, self._place = self._place, target
        found = self._inner(read)
        self._place = after
        return found

    def _inner(self, read: Callable[[], str]) -> str:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _NotReadable
        found = read()
        self._depth -= 1
        return found

    def _until_end(self, read: Callable[[], str]) -> Iterator[str]:
        while not self._taken("E"):
            yield read()

    def _bounded(self, text: str) -> str:
        if len(text) > _LONGEST:
            raise _NotReadable
        return text

    def _next(self) -> str:
        self._parts += 1
        if self._place >= len(self._text) or self._parts > _PARTS_MOST:
            raise _NotReadable
        self._place += 1
        return self._text[self._place - 1]

    def _taken(self, letter: str) -> bool:
        if not self._text.startswith(letter, self._place):
            return False
        self._place += 1
        return True

    def _expect(self, letter: str) -> None:
        if not self._taken(letter):
            raise _NotReadable


def _from_punycode(word: str) -> str:
    plain, mark, rest = word.rpartition("_")
    found = f"{plain}{'-' if mark else ''}{rest}".encode().decode("punycode")
    if not found.isprintable():
        raise _NotReadable
    return found
