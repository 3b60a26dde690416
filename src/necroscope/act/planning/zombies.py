"""Plans that free what has leaked, each by the cheapest right action: page cache, tmpfs leftovers, directories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from necroscope.act.node.doors import HeldZombie
from necroscope.act.node.paths import KEPT_MOST, can_be_put_back, resolved
from necroscope.act.planning.draft import Draft
from necroscope.errors import BadInput, Refused
from necroscope.quantity import count, plural
from necroscope.vocabulary.plan import ABSENT, Condition, Plan, Step

PAGE_CACHE = "page-cache"
_WHY_NOT = {
    "tmpfs": "pinned by tmpfs files, whose pages are the only copy: name those that nobody needs",
    "anon": "pinned by memory of processes that have moved out: end or restart those processes",
    "kernel": "pinned by kernel memory: sockets or slab of whoever still uses them",
    "": "of which it could not be seen what pins them",
}
SINGLY_MOST, FILES_MOST = 32, 50_000
_SHOWN = 12


def free_zombies(draft: Draft, cgroup: str) -> Plan:
    """Drop the page cache of the files that pin zombies below a cgroup, then reclaim what page cache is left."""
    below = _cgroup(cgroup)
    held = draft.node.memory.zombies(below)
    if not held:
        raise Refused(f"There are no zombie memory cgroups below {below}.", "`necroscope scan` lists where they are")
    stuck = _stuck(held)
    cached = [one for one in held if PAGE_CACHE in one.kinds]
    if not cached:
        raise Refused(f"Nothing below {below} can be freed so: {_told(stuck)}.", _hint(draft, held, stuck))
    files = _openable(draft, cached)
    steps = [_drop(draft, below, files)] if files else []
    if not stuck and below != "/":
        steps.append(_reclaim(draft, below))
    if not steps:
        hint = "drop_caches would take the page cache of the whole node"
        raise Refused(f"The files that pin {plural(len(cached), 'zombie')} cannot be opened from here.", hint)
    notes = [f"{plural(len(held), 'zombie')} below {below}, {count(len(cached))} with page cache"]
    if stuck:
        notes += [f"no reclaim: {_told(stuck)}", "reclaim over those would hold a core in the kernel, and free nothing"]
    return draft.made("cgroup", below, steps, notes)


def remove_leftover(draft: Draft, paths: Sequence[str]) -> Plan:
    """Delete tmpfs files by name, those that are seen to pin zombies."""
    pinning: dict[str, int] = Counter(
        identity for one in draft.node.memory.zombies("/") if "tmpfs" in one.kinds for _, identity in one.files
    )
    steps, notes = [], []
    named = list(dict.fromkeys(map(resolved, paths)))
    if len(named) > FILES_MOST:
        raise BadInput(f"{count(len(named))} files are too many for one plan.", f"name {count(FILES_MOST)} at most")
    if len(named) > SINGLY_MOST:
        return _all_of_them(draft, named, pinning)
    for path in named:
        step = _unlink(draft, path, pinning)
        steps.append(step)
        if not step.undoable:
            notes.append(
                f"{path} is larger than {KEPT_MOST >> 10} KiB: its bytes are not kept, and it cannot be undone"
            )
    first = steps[0].target
    name = first if len(steps) == 1 else f"{first} and {len(steps) - 1} more"
    return draft.made("cgroup", name, steps, notes)


def _all_of_them(draft: Draft, named: Sequence[str], pinning: dict[str, int]) -> Plan:
    """So many that their bytes are not kept: one step, which looks at each once more right before it goes."""
    checked = [(path, _leftover(draft, path, pinning)[0]) for path in named]
    zombies = sum(pinning[identity] for _, identity in checked)
    step = Step(
        "remove-files",
        named[0],
        f"unlink {count(len(checked))} files, each by device and inode (they pin {plural(zombies, 'zombie')})",
        shows=_listed(named),
        undoable=False,
        conditions=(draft.same_boot(),),
        items=tuple(checked),
    )
    note = f"more than {SINGLY_MOST} files: their bytes are not kept, and it cannot be undone"
    return draft.made("cgroup", f"{named[0]} and {count(len(named) - 1)} more", [step], [note])


def remove_directories(draft: Draft, cgroup: str) -> Plan:
    """Remove empty directories below a cgroup, depth first."""
    below = _cgroup(cgroup)
    if not draft.node.memory.directory(below):
        raise BadInput(f"There is no memory cgroup {below}.", "`necroscope scan` lists those with leaked directories")
    found = draft.node.memory.empty_directories(below)
    if not found:
        raise Refused(
            f"No empty directory below {below} was left behind.", "those younger than a minute are not counted"
        )
    step = Step(
        "remove-cgroups",
        below,
        f"rmdir {plural(len(found), 'directory', 'directories')} below {below}, depth first",
        shows=_listed([path for path, _ in found]),
        undoable=False,
        conditions=(draft.same_boot(),),
        items=tuple(found),
    )
    return draft.made("cgroup", below, [step])


# -- zombies -----------------------------------------------------------------------------------------------


def _stuck(held: Sequence[HeldZombie]) -> Counter[str]:
    """Zombies that no reclaim frees, by what pins them: whatever is beside page cache."""
    return Counter(next((kind for kind in one.kinds if kind != PAGE_CACHE), "") for one in held if not _free(one))


def _free(one: HeldZombie) -> bool:
    return one.kinds == (PAGE_CACHE,)


def _told(stuck: Counter[str]) -> str:
    return "; ".join(f"{plural(number, 'zombie')} {_WHY_NOT[kind]}" for kind, number in stuck.most_common())


def _hint(draft: Draft, held: Sequence[HeldZombie], stuck: Counter[str]) -> str:
    there = [
        path for one in held if "tmpfs" in one.kinds for path, identity in one.files if _same(draft, path, identity)
    ]
    if there:
        return f"necroscope fix remove-leftover {there[0]}"
    return "necroscope fix stop-process PID" if "anon" in stuck else "a reboot frees them"


def _openable(draft: Draft, cached: Sequence[HeldZombie]) -> list[tuple[str, str]]:
    """Files that are who they were when they were seen to pin; those that cannot be compared are left out."""
    named = dict(file for one in cached for file in one.files)
    same = ((path, identity) for path, identity in sorted(named.items()) if _same(draft, path, identity))
    return list(islice(same, FILES_MOST))


def _same(draft: Draft, path: str, identity: str) -> bool:
    return path.startswith("/") and bool(identity) and draft.node.memory.identity(path) == identity


def _drop(draft: Draft, below: str, files: list[tuple[str, str]]) -> Step:
    return Step(
        "drop-cache",
        below,
        f"fdatasync and posix_fadvise(DONTNEED) on {plural(len(files), 'file')}",
        shows=_listed([path for path, _ in files]),
        conditions=(draft.same_boot(),),
        items=tuple(files),
        undoable=True,
    )


def _reclaim(draft: Draft, below: str) -> Step:
    directory = draft.node.memory.directory(below)
    if not directory:
        raise Refused(f"{below} is no live memory cgroup.", "name the live cgroup above the zombies")
    return Step(
        "reclaim",
        below,
        f"write to memory.reclaim or memory.force_empty of {directory}, for {draft.budget_s:g} s at most",
        shows=("only if zombies are left, and all of those are page cache alone",),
        conditions=(draft.same_boot(), Condition("inode", directory, draft.node.memory.identity(directory))),
        budget_s=draft.budget_s,
    )


# -- leftovers ---------------------------------------------------------------------------------------------


def _unlink(draft: Draft, path: str, pinning: dict[str, int]) -> Step:
    identity, there = _leftover(draft, path, pinning)
    says = f"unlink {path} (device:inode {identity}, pins {plural(pinning[identity], 'zombie')})"
    same = Condition("inode", path, identity)
    conditions = (draft.same_boot(), same, Condition("unused", path, identity))
    return Step("set-path", path, says, there, ABSENT, conditions=conditions, undoable=can_be_put_back(there))


def _leftover(draft: Draft, path: str, pinning: dict[str, int]) -> tuple[str, str]:
    """Identity and state of a file, where it pins a zombie and nobody uses it."""
    identity, there = draft.node.memory.identity(path), draft.node.paths.state(path)
    if not identity or there == ABSENT:
        raise BadInput(f"There is no file {path}.", "give the path as it is seen from here")
    if not there.startswith("file "):
        raise Refused(f"{path} is no regular file.", "only files that pin zombies are removed")
    if identity not in pinning:
        raise Refused(f"{path} pins no zombie that could be seen on tmpfs.", "`necroscope scan` names those that do")
    if (user := draft.node.memory.user_of(identity)) is not None:
        raise Refused(f"{path} is in use by process {user}.", "stop that first, or choose another file")
    return identity, there


def _cgroup(text: str) -> str:
    if not text.startswith("/") or ".." in text.split("/"):
        raise BadInput(f"{text} is no path of a cgroup.", "as `necroscope scan` shows them: /system.slice/x.service")
    return text.rstrip("/") or "/"


def _listed(names: Sequence[str]) -> tuple[str, ...]:
    more = len(names) - _SHOWN
    return (*names[:_SHOWN], *((f"and {count(more)} more (--json lists all)",) if more > 0 else ()))
