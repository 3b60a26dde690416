"""Plays incidents, one after the other."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from bench.unseen.incidents import INCIDENTS
from bench.unseen.stage import Player, Stage


def play(player: Player, names: list[str], out: Path, within_s: float) -> list[str]:
    """Those that were played, of those that can begin within this time; one that breaks off is told."""
    began, played = time.monotonic(), []
    for name in names or list(INCIDENTS):
        if time.monotonic() - began > within_s:
            break
        if _play_one(player, name, out / name):
            played.append(name)
    return played


def _play_one(player: Player, name: str, folder: Path) -> bool:
    began = time.monotonic()
    folder.mkdir(parents=True)
    stage = Stage(player, name, folder)
    try:
        INCIDENTS[name](stage)
    except Exception as error:
        print(f"{name:22} broke off: {error!r}", flush=True)
        return False
    finally:
        stage.end()
    done = stage.played
    full = {cpu: share for cpu, share in done.busy.items() if share > 0.5}
    took = time.monotonic() - began
    print(f"{name:22} {took:4.0f} s  busy {full}  late {done.late_s}  guilty {done.pids}"[:400], flush=True)
    return True


def this_program() -> tuple[str, ...]:
    return (sys.executable, "-m", "necroscope")
