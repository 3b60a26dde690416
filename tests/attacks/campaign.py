"""All attacks at once beside a recorder and a bystander: what they cost, what is lost, what is told.

    python -m attacks.campaign --seconds 600          (as root, in the folder `tests`)

The bystanders are another user's processes, one for each core, so that all cores are busy with and without attacks.
Counted twice, before the attacks and beside them: the samples of all cores in a second, and those that the bystanders
get for a second of their CPU time. The latter depends on chance too; three standard deviations are allowed for.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from attacks import ATTACKS, PROGRAMS, Attack
from necroscope.vocabulary.event import event_of
from necroscope.vocabulary.event_sentence import sentence
from stage.hung_fuse import HungFuse
from stage.recorders import ask, wait_for_samples
from stage.recorders import recorder as recording

ATTACKER, BYSTANDER = 4001, 4002
START_S = 120.0
HZ = os.sysconf("SC_CLK_TCK")
BUSY = "import time\nwhile True: sum(i * i for i in range(1000))"
MOST_PSS, MOST_CPU, LEAST_KEPT = 250 << 20, 0.05, 0.98


@dataclass
class Cost:
    """What our processes held at most, and their CPU time so far."""

    pss_bytes: int = 0
    parts: dict[str, int] = field(default_factory=dict)
    cpu_s: float = 0.0

    def look(self, recorder: int) -> None:
        """Look once at the recorder and all below it."""
        seen = {pid: found for pid in below(recorder) if (found := pss(pid)) is not None}
        if sum(seen.values()) > self.pss_bytes:
            self.pss_bytes = sum(seen.values())
            self.parts = {f"{name_of(pid)} {pid}": size for pid, size in seen.items()}
        self.cpu_s = max(self.cpu_s, sum(map(cpu_s, seen)))


@dataclass(frozen=True)
class Outcome:
    """What a campaign showed."""

    seconds: float
    pss_bytes: int
    pss_parts: dict[str, int]
    cpu_share: float
    kept: Kept
    secrets_found: int
    idle_forged: int
    untold: tuple[str, ...]
    events: tuple[tuple[str, int], ...]
    gaps: tuple[str, ...]
    names_told: tuple[str, ...]
    stop_s: float

    def failures(self, pss_bytes: int = MOST_PSS, cpu: float = MOST_CPU, kept: float = LEAST_KEPT) -> list[str]:
        """Which bars were missed."""
        checks = (
            (self.pss_bytes <= pss_bytes, f"{self.pss_bytes >> 20} MiB PSS"),
            (self.cpu_share <= cpu, f"{self.cpu_share:.1%} of a core"),
            (self.kept.all >= kept, f"{self.kept.all:.1%} of all samples"),
            (self.kept.bystanders + self.kept.doubt >= kept, f"{self.kept.bystanders:.1%} of the bystanders' samples"),
            (not self.secrets_found, f"{self.secrets_found} stacks hold what only root may read"),
            (not self.idle_forged, f"{self.idle_forged} samples of the attacker look idle or like the kernel"),
            (dict(self.events).get("frames-unresolved", 0) > 0, "frames without a name are not told in events"),
            (not self.untold, f"not told in events: {', '.join(self.untold)}"),
            (self.stop_s <= 5, f"stopping took {self.stop_s:.1f} s"),
        )
        return [text for holds, text in checks if not holds]


# -- processes -------------------------------------------------------------------------------------------


def below(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):
            found += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
            for task in Path(f"/proc/{one}/task").iterdir():
                if task.name != str(one):
                    found += map(int, (task / "children").read_text().split())
    return found


def pss(pid: int) -> int | None:
    """Memory that is a process's own, its share of the rest, and perf's rings, which the kernel does not count."""
    with contextlib.suppress(OSError):
        found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
        maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
        rings = (line.split(maxsplit=1)[0].split("-") for line in maps if "perf_event" in line)
        return (int(found[1]) << 10 if found else 0) + sum(int(high, 16) - int(low, 16) for low, high in rings)
    return None


def cpu_s(pid: int) -> float:
    """CPU time of a process and of its children that are gone."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / HZ
    return 0.0


def name_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return "?"


def as_user(uid: int, *command: str) -> list[str]:
    return ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups", "--no-new-privs", *command]


@contextlib.contextmanager
def running(attack: Attack, seconds: float, secret: Path) -> Iterator[None]:
    """One attack, in a process group of its own; nothing of it stays."""
    with tempfile.TemporaryDirectory(prefix="attack-") as name, contextlib.ExitStack() as ending:
        started: list[subprocess.Popen[bytes]] = []
        # The last thing that is done: after what it may hang in is gone.
        ending.callback(lambda: [one.wait() for one in started])
        folder = Path(name)
        folder.chmod(0o777)
        program = [sys.executable, str(PROGRAMS / f"{attack.name}.py"), str(seconds), str(folder), str(secret)]
        command = as_user(ATTACKER, *program)
        if attack.hung_tmp:
            hung = folder / "hung"
            hung.mkdir()
            ending.callback(HungFuse(hung).close)
            # What the attack runs must not lie below what never answers, wherever this checkout is.
            away = ending.enter_context(tempfile.TemporaryDirectory(prefix="attack-", dir="/var/tmp"))
            Path(away).chmod(0o755)
            shutil.copytree(PROGRAMS, away, dirs_exist_ok=True)
            program = [os.path.realpath(sys.executable), f"{away}/{attack.name}.py", str(seconds), "/", str(secret)]
            command = as_user(ATTACKER, *program)
            over = f'mount --bind {hung} /tmp && exec "$@"'
            command = ["unshare", "--mount", "sh", "-c", over, "sh", *command]
        # A file and no pipe: who hangs in a file system holds its end for as long as that does.
        said = ending.enter_context(tempfile.TemporaryFile())
        # Nor may what the program finds there be what was set for us: a path of ours may lie below what never answers.
        clean = {"PATH": os.environ["PATH"]}
        one = subprocess.Popen(
            command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=said, cwd="/", env=clean
        )
        started.append(one)
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)
            _remove_maps()
        said.seek(0)
        if complaints := said.read():
            print(f"{attack.name}: {complaints.decode('utf-8', 'replace')[-400:]}", file=sys.stderr)


def _remove_maps() -> None:
    """Maps that the attacks left; others of them may be doing the same."""
    for left in Path("/tmp").glob("perf-*.map"):
        with contextlib.suppress(FileNotFoundError):
            if left.lstat().st_uid == ATTACKER:
                left.rmdir() if left.is_dir() and not left.is_symlink() else left.unlink()


# -- the campaign ----------------------------------------------------------------------------------------


def run(seconds: float, quiet_s: float = 5.0, attacks: tuple[Attack, ...] = ATTACKS) -> Outcome:
    """Record, first without attacks, then beside all of them."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as name, contextlib.ExitStack() as ending:
        folder = Path(name)
        folder.chmod(0o755)
        word = secrets.token_hex(8)
        secret = folder / "secret"
        secret.write_text(f"0 ffffffffffffffff secret_{word}\n")
        secret.chmod(0o600)
        bystanders = [
            subprocess.Popen(as_user(BYSTANDER, sys.executable, "-c", BUSY)) for _ in range(os.cpu_count() or 1)
        ]
        for one in bystanders:
            ending.callback(_end, one)
        pids = [one.pid for one in bystanders]
        store = folder / "store"
        recorder = ending.enter_context(recording(store))
        wait_for_samples(store, START_S)
        time.sleep(1.0)
        quiet = _stretch(pids, quiet_s)
        before = cpu_of_all(recorder.pid)
        cost = Cost()
        with contextlib.ExitStack() as attacking:
            for attack in attacks:
                attacking.enter_context(running(attack, seconds, secret))
            loud = _stretch(pids, seconds, lambda: cost.look(recorder.pid))
            spent = cpu_of_all(recorder.pid) - before
        began = time.monotonic()
        recorder.send_signal(signal.SIGTERM)
        recorder.wait(60)
        stop_s = time.monotonic() - began
        kept = Kept.of(store, pids, quiet, loud)
        return _outcome(store, word, attacks, seconds, cost, spent / seconds, kept, stop_s)


def cpu_of_all(recorder: int) -> float:
    return sum(map(cpu_s, below(recorder)))


@dataclass(frozen=True)
class Stretch:
    """From when to when, and how much CPU time the bystanders had in between."""

    start_ns: int
    end_ns: int
    cpu_s: float

    def samples(self, store: Path, pids: list[int]) -> tuple[int, int]:
        """Samples of all, and of the bystanders."""
        mine = f"pid in ({', '.join(map(str, pids))})"
        where = f"at_ns between {self.start_ns} and {self.end_ns}"
        row = ask(store, f"select count(*) as n, count(*) filter (where {mine}) as mine from samples where {where}")[0]
        return int(row["n"]), int(row["mine"])


@dataclass(frozen=True)
class Kept:
    """Shares of what there was without attacks. `doubt` is three standard deviations of the bystanders'."""

    all: float
    bystanders: float
    doubt: float

    @classmethod
    def of(cls, store: Path, pids: list[int], quiet: Stretch, loud: Stretch) -> Kept:
        (all_quiet, mine_quiet), (all_loud, mine_loud) = quiet.samples(store, pids), loud.samples(store, pids)
        per_s = [n / (one.end_ns - one.start_ns) for n, one in ((all_quiet, quiet), (all_loud, loud))]
        per_cpu_s = [n / one.cpu_s for n, one in ((mine_quiet, quiet), (mine_loud, loud))]
        return cls(per_s[1] / per_s[0], per_cpu_s[1] / per_cpu_s[0], 3 / max(1, mine_loud) ** 0.5)


def _stretch(pids: list[int], seconds: float, each: Callable[[], None] = lambda: None) -> Stretch:
    start, used = time.time_ns(), sum(map(cpu_s, pids))
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        each()
        time.sleep(0.5)
    return Stretch(start, time.time_ns(), sum(map(cpu_s, pids)) - used)


def _outcome(
    store: Path,
    word: str,
    attacks: tuple[Attack, ...],
    seconds: float,
    cost: Cost,
    cpu: float,
    kept: Kept,
    stop_s: float,
) -> Outcome:
    rows = ask(store, "select * exclude (at) from events where source = 'recorder'")
    events = [{"kind": row["kind"], "text": sentence(event_of(row))} for row in rows]
    texts = "\n".join(str(row["text"]) for row in events)
    kinds = {str(row["kind"]) for row in events}
    told = tuple((kind, sum(row["kind"] == kind for row in events)) for kind in sorted(kinds))
    found = ask(store, f"select count(*) as n from stacks where array_to_string(frames, ' ') like '%{word}%'")[0]["n"]
    forged = ask(
        store,
        "select count(*) as n from samples join stacks using (stack_id)"
        " where pid <> 0 and frames[-1] like '%default_idle%' and modules[-1] = '[kernel]'",
    )[0]["n"]
    return Outcome(
        seconds=seconds,
        pss_bytes=cost.pss_bytes,
        pss_parts=cost.parts,
        cpu_share=cpu,
        kept=kept,
        secrets_found=int(found),
        idle_forged=int(forged),
        untold=tuple(one.name for one in attacks if one.told and one.told not in texts),
        events=told,
        names_told=tuple(str(row["text"]) for row in events if row["kind"] in ("frames-unresolved", "symbols-refused")),
        gaps=tuple(str(row["text"]) for row in events if row["kind"] == "recorder-gap"),
        stop_s=stop_s,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def main() -> int:
    """Run, print, and say with the exit code whether the bars hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--only", action="append", default=[], help="names of attacks")
    given = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        print("the attacks run beside a recorder of root: run as root, with setpriv", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started is ended on the way out
    chosen = tuple(one for one in ATTACKS if not given.only or one.name in given.only)
    outcome = run(given.seconds, min(30.0, given.seconds), chosen)
    print(f"{len(chosen)} attacks for {outcome.seconds:.0f} s")
    print(f"  memory of all our processes   {outcome.pss_bytes / (1 << 20):.0f} MiB PSS at most")
    for name, size in sorted(outcome.pss_parts.items(), key=lambda part: -part[1]):
        print(f"    {size / (1 << 20):8.1f} MiB  {name}")
    print(f"  CPU of all our processes      {outcome.cpu_share:.2%} of a core")
    print(f"  samples kept, of all cores    {outcome.kept.all:.1%}")
    print(f"  samples kept, of bystanders   {outcome.kept.bystanders:.1%} (give or take {outcome.kept.doubt:.1%})")
    print(f"  stacks with others' secrets   {outcome.secrets_found}")
    print(f"  forged idle stacks            {outcome.idle_forged}")
    print(f"  gaps told                     {len(outcome.gaps)}")
    for text in outcome.gaps:
        print(f"    {text}")
    print(f"  names that were not found     {len(outcome.names_told)} events")
    for text in outcome.names_told[:12]:
        print(f"    {text}")
    print(f"  stopping took                 {outcome.stop_s:.1f} s")
    print("  events of the recorder        " + ", ".join(f"{kind} {count}" for kind, count in outcome.events))
    failures = outcome.failures()
    print("all bars hold" if not failures else "MISSED: " + "; ".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
