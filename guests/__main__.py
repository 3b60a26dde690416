"""Run jobs in guests; without a machine and a job, all of them.

python -m guests --list
python -m guests arm64-pmu --job pinned_hog --keep FOLDER
python -m guests btf-excerpt tests/sense/kernel/layouts
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from guests import excerpts, guest, job
from guests.fetching import Unfetchable
from guests.machines import MACHINES, machine
from guests.table import table

_JOBS = ("zombies", "pinned_hog")


def main() -> int:
    """0 when every job ended well and no kernel complained, 1 otherwise, 3 when a guest cannot be made here."""
    if sys.argv[1:2] == ["btf-excerpt"]:
        return excerpts.main(sys.argv[2:])
    asked = _parser().parse_args()
    # As Ctrl-C does: what was begun is ended, and its folders go.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if asked.list:
        print(*(one.name for one in MACHINES), sep="\n")
        return 0
    names = asked.machines or [one.name for one in MACHINES]
    try:
        runs = [_one(name, wanted, asked) for name in names for wanted in asked.job or _JOBS]
    except (Unfetchable, KeyError) as error:
        print(f"guests: {error.args[0]}", file=sys.stderr)
        return 3
    print(table(runs))
    return 0 if all(one.good for one in runs) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m guests", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help="a name of --list; all without")
    parser.add_argument("--list", action="store_true", help="the machines there are")
    parser.add_argument("--job", action="append", choices=job.names(), help=f"may be repeated; {', '.join(_JOBS)}")
    parser.add_argument("--patience", type=float, default=600.0, help="seconds until a guest is killed")
    parser.add_argument("--keep", type=Path, help="a folder for what the jobs leave, in MACHINE/JOB")
    return parser


def _one(name: str, wanted: str, asked: argparse.Namespace) -> guest.Outcome:
    chosen = machine(name)
    with tempfile.TemporaryDirectory(prefix="necroscope-guest-") as scratch:
        folder = (asked.keep or Path(scratch)) / name / wanted
        outcome = guest.run(chosen, wanted, folder, asked.patience)
        (folder / "console").write_text(outcome.console, "utf-8")
    _report(outcome)
    return outcome


def _report(outcome: guest.Outcome) -> None:
    ended = f"status {outcome.left.status}" if outcome.ended else "killed: its patience was over"
    mark, name = "✔" if outcome.good else "✖", outcome.machine.name
    print(f"{mark} {name}  Linux {outcome.kernel}  {outcome.job}  {outcome.seconds:.0f} s  {ended}")
    print(outcome.left.output or outcome.console[-3000:])
    for line in outcome.complaints:
        print(f"  its kernel complained: {line}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
