"""What it costs to free zombies of each pin class by the action that `fix` takes, and what force would cost.

The zombies are real, made below a cgroup of their own. `fix` columns are the program's own plan, carried out; `force`
is a reclaim of the same subtree, in a child with a budget, which is what `fix` refuses to do.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from necroscope import clock
from necroscope.act.carry_out import carry_out
from necroscope.act.node.boot import live_node
from necroscope.act.planning.draft import Draft
from necroscope.act.planning.plan import plan
from necroscope.act.runner import run_module
from necroscope.act.state_folder import StateFolder
from necroscope.errors import Refused
from necroscope.lab.actors.zombies import Batch, Kind, ZombieFarm, own_name

COUNT, STUCK = 1_000, 20_000
FORCE_S = 20.0
_SETTLE_S = 10.0


def main() -> None:
    """One row for each pin class."""
    print("| pinned by | action | zombies before | after | wall s | kernel s |")
    print("|---|---|---|---|---|---|")
    with ZombieFarm(own_name("bench")) as farm:
        _page_cache(farm)
        _unnamed(farm)
        _leftovers(farm)
        _anon(farm)
        _refused(farm, "anon")
        _force(farm, _refused(farm, "tmpfs"))


def _page_cache(farm: ZombieFarm) -> None:
    farm.make("page-cache", COUNT, "cached")
    _row(farm, "page cache", "free-zombies: fadvise on the named files", _fixing("free-zombies", f"{farm.path}/cached"))


def _unnamed(farm: ZombieFarm) -> None:
    """Files that nobody can open by name."""
    batch = farm.make("page-cache", COUNT, "unnamed")
    held = [file.open("rb") for file in batch.files[:COUNT]]
    for file in batch.files:
        file.unlink()
    action = "free-zombies: reclaim of the subtree, in a child"
    _row(farm, "page cache of deleted files", action, _fixing("free-zombies", f"{farm.path}/unnamed"))
    for one in held:
        one.close()


def _leftovers(farm: ZombieFarm) -> None:
    batch = farm.make("tmpfs", COUNT, "left")
    _row(farm, "tmpfs", "remove-leftover: the named files", _fixing("remove-leftover", *map(str, batch.files)))
    farm.free(batch)


def _anon(farm: ZombieFarm) -> None:
    batch = farm.make("anon", COUNT, "moved")
    holder = batch.holder
    assert holder is not None
    action = "stop-process: the one that holds it"
    _row(farm, "anonymous memory", action, _fixing("stop-process", str(holder.pid)), holder.wait)
    farm.free(batch)


def _refused(farm: ZombieFarm, kind: Kind) -> Batch:
    """What `fix` does not do."""
    batch = farm.make(kind, STUCK, f"force-{kind}")
    try:
        _fixing("free-zombies", f"{farm.path}/force-{kind}")()
    except Refused as refused:
        print(f"| {kind} | free-zombies | {STUCK} | refused: {refused.message} | | |", flush=True)
        return batch
    sys.exit("it should have been refused")


def _force(farm: ZombieFarm, batch: Batch) -> None:
    """What it would cost to do it all the same."""
    directory = live_node().memory.directory(f"{farm.path}/force-{batch.kind}")
    began = clock.elapsed_s()
    ran = run_module("necroscope.act.node.reclaim_child", [directory], FORCE_S)
    wall_s, there = clock.elapsed_s() - began, live_node().memory.count(f"{farm.path}/force-{batch.kind}")
    action = f"force: reclaim, {'stopped' if ran.stopped else 'ended by itself'}"
    print(f"| {batch.kind} | {action} | {STUCK} | {there} | {wall_s:.2f} | {ran.kernel_s:.2f} |", flush=True)


def _fixing(action: str, *subjects: str) -> Callable[[], None]:
    def work() -> None:
        with tempfile.TemporaryDirectory(prefix="necroscope-bench-") as folder:
            made = plan(Draft(live_node(), action, budget_s=FORCE_S), subjects)
            carry_out(made, live_node(), StateFolder(Path(folder) / "state"), lambda report: None)

    return work


def _there(farm: ZombieFarm) -> int:
    return live_node().memory.count(farm.path)


def _row(
    farm: ZombieFarm,
    pinned: str,
    action: str,
    work: Callable[[], None],
    settled: Callable[[], object] = lambda: None,
) -> None:
    before = _there(farm)
    began, (_, kernel_before) = clock.elapsed_s(), clock.cpu_s()
    work()
    wall_s, kernel_s = clock.elapsed_s() - began, clock.cpu_s()[1] - kernel_before
    settled()
    ends = clock.elapsed_s() + _SETTLE_S
    while _there(farm) and clock.elapsed_s() < ends:
        clock.sleep(0.1)
    print(f"| {pinned} | {action} | {before} | {_there(farm)} | {wall_s:.2f} | {kernel_s:.2f} |", flush=True)
