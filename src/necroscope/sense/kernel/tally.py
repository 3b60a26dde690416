"""Zombies counted by family as they are read: memory is bounded by the number of families, not of zombies."""

from __future__ import annotations

import heapq
import os
from collections import Counter
from dataclasses import dataclass, field

from necroscope.vocabulary.model import DirectoryFamily, Family, ParentCount, Pin, PinKind

FILES_KEPT = 4
EXAMPLES_KEPT = 3
NEWEST_KEPT = 32
REPEATED_KEPT = 32
_PATHS_COUNTED = 256
_FILES_ASKED = 32
FAMILIES_MAX = 1000
_HOUR_S = 3600.0
_AGES_KNOWN = 0.9
OTHERS = "<other>"


@dataclass(slots=True)
class _FamilyCount:
    """One family while it is counted."""

    parent: str
    zombies: int = 0
    examples: list[str] = field(default_factory=list)
    newest: list[tuple[int, str]] = field(default_factory=list)
    paths: Counter[str] = field(default_factory=Counter)
    bytes: Counter[PinKind] = field(default_factory=Counter)
    files: dict[PinKind, list[str]] = field(default_factory=dict)
    asked: Counter[PinKind] = field(default_factory=Counter)
    ages_known: int = 0
    last_hour: int = 0
    oldest_s: float | None = None
    newest_s: float | None = None

    def family(self, pattern: str) -> Family:
        known = self.zombies > 0 and self.ages_known >= _AGES_KNOWN * self.zombies
        return Family(
            pattern=pattern,
            parent=self.parent,
            zombies=self.zombies,
            examples=tuple(self.examples),
            pins=_pins(self.bytes, self.files),
            oldest_age_s=self.oldest_s,
            newest_age_s=self.newest_s,
            born_last_hour=self.last_hour if known else None,
            repeated=tuple((path, count) for path, count in self.paths.most_common(REPEATED_KEPT) if count > 1),
            newest=tuple(path for _, path in sorted(self.newest, reverse=True)),
        )

    def remember(self, path: str, serial: int) -> None:
        """Keep the youngest paths (serial numbers rise with birth) and count those that come again."""
        if len(self.examples) < EXAMPLES_KEPT:
            self.examples.append(path)
        if len(self.newest) < NEWEST_KEPT:
            heapq.heappush(self.newest, (serial, path))
        elif serial > self.newest[0][0]:
            heapq.heapreplace(self.newest, (serial, path))
        self.paths[path] += 1
        if len(self.paths) > _PATHS_COUNTED:
            # what came only once so far makes room: a path that repeats comes again soon
            self.paths = Counter({path: count for path, count in self.paths.items() if count > 1})
            if len(self.paths) > _PATHS_COUNTED // 2:
                self.paths = Counter(dict(self.paths.most_common(_PATHS_COUNTED // 2)))

    def age(self, age_s: float) -> None:
        """Take note of one member's age."""
        self.ages_known += 1
        self.last_hour += age_s < _HOUR_S
        self.oldest_s = age_s if self.oldest_s is None else max(age_s, self.oldest_s)
        self.newest_s = age_s if self.newest_s is None else min(age_s, self.newest_s)


class Tally:
    """Counts zombies by parent and by family, and empty directories by pattern."""

    def __init__(self) -> None:
        self.zombies = 0
        self._parents: Counter[str] = Counter()
        self._families: dict[str, _FamilyCount] = {}
        self._bytes: Counter[PinKind] = Counter()
        self._empty: dict[str, tuple[int, list[str]]] = {}

    def family_of(self, folder_pattern: str, name_pattern: str) -> str:
        """The pattern to count under. Where names follow no pattern at all, they share one."""
        pattern = f"{folder_pattern}/{name_pattern}"
        if pattern in self._families or len(self._families) < FAMILIES_MAX:
            return pattern
        return f"{folder_pattern}/{OTHERS}" if len(self._families) < 2 * FAMILIES_MAX else f"/{OTHERS}"

    def add(
        self, family: str, parent: str, path: str, serial: int, age_s: float | None, held: dict[PinKind, int]
    ) -> None:
        """One zombie at `path`, whose nearest live ancestor is `parent`."""
        one = self._families.get(family)
        if one is None:
            one = self._families[family] = _FamilyCount(parent)
        elif one.parent != parent:
            one.parent = os.path.commonpath((one.parent, parent))
        one.zombies += 1
        one.remember(path, serial)
        for kind, size in held.items():
            one.bytes[kind] += size
            self._bytes[kind] += size
        if age_s is not None:
            one.age(age_s)

    def add_parent(self, parent: str, zombies: int) -> None:
        """Zombies below one live cgroup."""
        self.zombies += zombies
        self._parents[parent] += zombies

    def wants_file(self, family: str, kind: PinKind) -> bool:
        """True while the family knows too few files of that kind, and was not asked for too often."""
        one = self._families[family]
        if len(one.files.get(kind, ())) >= FILES_KEPT or one.asked[kind] >= _FILES_ASKED:
            return False
        one.asked[kind] += 1
        return True

    def add_file(self, family: str, kind: PinKind, name: str) -> None:
        """A file that pins members of the family."""
        files = self._families[family].files.setdefault(kind, [])
        if name not in files and len(files) < FILES_KEPT:
            files.append(name)

    def add_empty(self, pattern: str, path: str) -> None:
        """A live cgroup with no process and no child."""
        if pattern not in self._empty and len(self._empty) >= FAMILIES_MAX:
            pattern = f"/{OTHERS}"
        count, examples = self._empty.get(pattern, (0, []))
        if count < EXAMPLES_KEPT:
            examples.append(path)
        self._empty[pattern] = count + 1, examples

    # -- results -----------------------------------------------------------------------------------------

    def by_parent(self) -> tuple[ParentCount, ...]:
        """Live cgroups with zombies below them, the most first."""
        ranked = sorted(self._parents.items(), key=lambda one: (-one[1], one[0]))
        return tuple(ParentCount(path, count) for path, count in ranked)

    def families(self) -> tuple[Family, ...]:
        """Families, the largest first."""
        ranked = sorted(self._families.items(), key=lambda one: (-one[1].zombies, one[0]))
        return tuple(one.family(pattern) for pattern, one in ranked)

    def pinned_by(self) -> tuple[Pin, ...]:
        """Bytes by kind over all zombies, the most first."""
        return _pins(self._bytes, {})

    def empty(self) -> tuple[DirectoryFamily, ...]:
        """Empty live directories by pattern, the most first."""
        ranked = sorted(self._empty.items(), key=lambda one: (-one[1][0], one[0]))
        return tuple(DirectoryFamily(pattern, count, tuple(examples)) for pattern, (count, examples) in ranked)


def _pins(sizes: Counter[PinKind], files: dict[PinKind, list[str]]) -> tuple[Pin, ...]:
    return tuple(Pin(kind, size, tuple(files.get(kind, ()))) for kind, size in sizes.most_common())
