"""`python -m bench.unseen play --out DIR [NAME...]`, `python -m bench.unseen score [DIR] [--json FILE]`."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from bench.unseen.play import play, this_program
from bench.unseen.score import score
from bench.unseen.stage import Player

_KEPT = Path(__file__).with_name("recordings.tar.xz")
_SOURCE = Path(__file__).with_name("actor.c")


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.unseen")
    verbs = parser.add_subparsers(dest="verb", required=True)
    playing = verbs.add_parser("play", help="play incidents for real, and keep their recordings")
    playing.add_argument("names", nargs="*", metavar="NAME")
    playing.add_argument("--out", type=Path, required=True, help="where the recordings go")
    playing.add_argument("--within", type=float, default=1e9, help="begin none after so many seconds")
    playing.add_argument("--actor", type=Path, help="actor.c, compiled (default: compile it)")
    scoring = verbs.add_parser("score", help="ask `why` about recordings, and compare with TRUTHS.json")
    scoring.add_argument("recordings", type=Path, nargs="?", default=_KEPT, help="what `play --out` was given")
    scoring.add_argument("--json", type=Path, help="write the answers and marks there")
    asked = parser.parse_args()
    if asked.verb == "score":
        return score(asked.recordings, asked.json)
    asked.out.mkdir(parents=True, exist_ok=True)
    return (
        0
        if play(Player(asked.actor or _compiled(asked.out), this_program()), asked.names, asked.out, asked.within)
        else 1
    )


def _compiled(folder: Path) -> Path:
    program = folder / "actor"
    subprocess.run(["cc", "-O2", "-static", "-s", "-pthread", "-o", str(program), str(_SOURCE)], check=True)
    return program


if __name__ == "__main__":
    sys.exit(main())
