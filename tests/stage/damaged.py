"""A store, damaged in one place, and everything that is asked of it: is another answer told to be one?"""

from __future__ import annotations

import contextlib
import io
import random
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from necroscope.cli.main import main
from necroscope.clock import NS, iso
from necroscope.errors import NecroscopeError
from necroscope.query.sql.engine import Engine
from necroscope.query.sql.views import VIEWS
from necroscope.store.inbox import put
from necroscope.store.read.catalog import all_segments
from necroscope.store.read.reader import Store
from necroscope.store.read.rollups import roll_up
from necroscope.vocabulary.event import Event
from stage.everything import SECONDS, fill
from stage.recorded import START_NS

_WINDOW = ("--from", iso(START_NS), "--to", iso(START_NS + SECONDS * NS))
_SAID = re.compile(
    r"damaged|cannot be read|is no store|is not whole|is lost|has no header|no longer|left out|format version"
)
VERBS = (
    ("events", "--json"),
    ("events", "--json", "--patterns"),
    ("top", "--json", *_WINDOW),
    ("top", "--json", "--by", "cgroup", "--against", "none", *_WINDOW),
    ("top", "--json", "--cpu", "1", "--against", "none", *_WINDOW),
    ("heatmap", "--json", *_WINDOW),
    ("heatmap", "--json", "--from", iso(START_NS - 3600 * NS), "--to", iso(START_NS + 3600 * NS)),
    ("heatmap", "--json", "--sub-second", *_WINDOW),
    ("flame", "--json", *_WINDOW),
    ("top", "--json"),
    ("top", "--json", "--event", "nic-reset"),
    ("why", "--json"),
    ("why", "--json", "--all"),
)
_VIEWS = tuple(view.name for view in VIEWS)
Answers = tuple[tuple[str, str], ...]
"""For each question, what was answered and what was said beside it."""


@dataclass(frozen=True)
class Damage:
    """What was done to a store."""

    path: Path
    place: int | None = None
    bit: int = 0

    def __str__(self) -> str:
        return f"{self.path} removed" if self.place is None else f"{self.path}: bit {self.bit} of byte {self.place}"


def recording(folder: Path) -> Path:
    """A store as a recorder leaves it that was killed: segments, a roll-up of two, a journal, a mark that waits."""
    fill(folder / "alive")
    first, second = all_segments(folder / "alive")[:2]
    roll_up(folder / "alive", [first, second])
    put(folder / "alive", Event(START_NS + 7 * NS, "deploy", "mark", "job", "a mark that nobody took up yet"))
    return Path(shutil.copytree(folder / "alive", folder / "store"))


def some_damage(store: Path, count: int, seed: int) -> Iterator[Damage]:
    """Flipped bits: each file in its turn, a place by chance, footers and heads as often as the rest."""
    chance = random.Random(seed)
    files = files_of(store)
    for number in range(count):
        path = files[number % len(files)]
        size = (store / path).stat().st_size
        near_end = max(0, size - 1500) if number % 2 else 0
        yield Damage(path, chance.randrange(near_end, size), chance.randrange(8))


def files_of(store: Path) -> list[Path]:
    """Every file that says something: who holds the lock is not among them."""
    found = (path.relative_to(store) for path in sorted(store.rglob("*")) if path.is_file())
    return [path for path in found if path.name != "lock"]


@contextlib.contextmanager
def damaged(store: Path, what: Damage) -> Iterator[None]:
    """The store with the damage, which is mended afterwards."""
    path = store / what.path
    data = path.read_bytes()
    path.unlink()
    if what.place is not None:
        path.write_bytes(data[: what.place] + bytes([data[what.place] ^ 1 << what.bit]) + data[what.place + 1 :])
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        path.write_bytes(data)


def answers(store: Path, verbs: tuple[tuple[str, ...], ...] = VERBS, views: tuple[str, ...] = _VIEWS) -> Answers:
    """What everything that reads a store says of it."""
    asked = [_answer(verb, store) for verb in verbs]
    return (*asked, *(_selected(view, store) for view in views))


def silent(before: Answers, after: Answers) -> list[int]:
    """Questions whose answer is another one without a word of it."""
    pairs = zip(before, after, strict=True)
    return [number for number, (old, new) in enumerate(pairs) if new[0] != old[0] and not _says_more(old, new)]


def _says_more(old: tuple[str, str], new: tuple[str, str]) -> bool:
    return len(_SAID.findall("".join(new))) > len(_SAID.findall("".join(old)))


def _answer(verb: tuple[str, ...], store: Path) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main.main([*verb, "--store", str(store)], prog_name="necroscope", standalone_mode=False)
        except NecroscopeError as error:
            err.write(f"{error.message} {error.hint}")
        except click.exceptions.Exit:
            pass
    return out.getvalue(), err.getvalue()


def _selected(view: str, store: Path) -> tuple[str, str]:
    try:
        with Engine(Store(store)) as engine:
            rows = engine.ask(f"select * from {view}").rows()
            return "\n".join(sorted(map(repr, rows))), "\n".join(engine.notes)
    except NecroscopeError as error:
        return "", f"{error.message} {error.hint}"
