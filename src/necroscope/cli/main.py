"""The command line: verbs, loaded when they are called, and the one place that turns errors into exit codes."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import click

from necroscope import __version__
from necroscope.cli.shared.times import RULE
from necroscope.errors import BadInput, NecroscopeError

NAME = "necroscope"
VERBS: dict[str, str] = {
    "scan": "Is this node sick, now?",
    "record": "The flight recorder, in the foreground.",
    "why": "The cause of a symptom, its evidence, and what to do.",
    "fix": "Make it stop: a plan, and with --apply the plan carried out; undo, history.",
    "audit": "What runs here, what has no business here, and what fails.",
    "validate": "Did it help? Before and after a change, measured.",
    "events": "What happened: symptoms, marks, restarts, gaps, each with an id.",
    "top": "Who took the cores in a window, and what of it is unusual.",
    "heatmap": "Each core over time, or the inside of seconds.",
    "flame": "A flame graph of a window, also against normal.",
    "serve": "The page: the recording as a picture, any five seconds of it, and the verdict.",
    "sql": "Ask the recording in SQL, read-only.",
    "verify": "Is the recording what was recorded? Damage is found, and can be set aside.",
    "mark": "Put an event on the timeline.",
    "export": "A window's profile for other tools: speedscope, pprof, flame graphs, OTLP, Parquet.",
    "import": "Bring in what other tools wrote: perf.data, perf script, mpstat, dmesg, journal, Ray.",
    "metrics": "The running recorder's numbers, for Prometheus's textfile collector.",
    "doctor": "Can this node be recorded, what is blind, what does it cost?",
    "config": "The settings: those in force, those there are, whether a file is right.",
    "bundle": "One file with a window of the recording, or with this instant, for a ticket.",
    "lab": "Incidents made for real on this kernel, with their truth written down.",
    "demo": "The incident made for real, recorded and explained: the newcomer's tour.",
    "completion": "Completion for bash, zsh or fish.",
}
# where the command of a verb is; `import` is a word of Python's own
_MODULES = {
    "scan": "node.scan",
    "record": "node.record",
    "mark": "node.mark",
    "fix": "node.fix",
    "audit": "node.audit",
    "validate": "look.validate",
    "why": "look.why",
    "config": "node.config",
    "doctor": "node.doctor",
    "metrics": "node.metrics",
    "events": "look.events",
    "top": "look.top",
    "heatmap": "look.heatmap",
    "flame": "look.flame",
    "serve": "look.serve",
    "sql": "look.sql",
    "export": "look.export",
    "verify": "files.verify",
    "import": "files.import_files",
    "bundle": "files.bundle",
    "lab": "lab.lab",
    "demo": "lab.demo",
    "completion": "files.completion",
}
# As a shell tells of a program that SIGPIPE ended. Zero would say that nothing is wrong.
_READER_GONE = 128 + signal.SIGPIPE
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
EXIT_CODES = """\b
Exit codes:
  0  nothing wrong found
  1  something wrong found
  2  bad usage or input
  3  it cannot be done here (permission, tool, kernel feature), or the answer
     is inconclusive
  4  internal error, a defect of ours
  130  interrupted
  141  the reader of the output went away (| head)
"""


class ReaderGone(Exception):
    """Nobody reads the output any more (`| head`)."""


class Verbs(click.Group):
    """Verbs are imported when they run: `--help` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = _MODULES[cmd_name]
        command: click.Command = getattr(import_module(f"necroscope.cli.{module}"), module.rpartition(".")[2])
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A mistyped verb is answered with those that look like it."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            near = get_close_matches(args[0], VERBS, cutoff=0.5)
            hint = f"did you mean {' or '.join(near)}?" if near else "necroscope --help lists the verbs"
            raise BadInput(f"There is no verb {args[0]}.", hint)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """click itself would take a reader that went away for exit code 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderGone from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.command(cls=Verbs, epilog=f"{EXIT_CODES}\n{RULE}", context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name=NAME)
def main() -> None:
    """Why is this node sick, and what makes it stop?

    \b
    Examples:
      necroscope scan                      one look at this node
      necroscope record                    keep what happens, until Ctrl-C
      necroscope why                       the cause of the latest symptom
      necroscope events --since -1h        what happened, each event with an id
      necroscope top --event ID            who took the cores around it
      necroscope bundle node7.ncb          take the evidence along
      necroscope why --bundle node7.ncb    and read it elsewhere
    """


def run(arguments: list[str] | None = None) -> NoReturn:
    """The program. Every error leaves one sentence and a hint on stderr, and its exit code."""
    _distrust_temporary_folder()
    _buffer_output()
    try:
        sys.exit(_carried_out(arguments))
    except click.Abort:
        sys.exit(_say("stopped.", "", 130))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(2)
    except click.ClickException as error:
        hint = error.ctx.command_path + " --help" if isinstance(error, click.UsageError) and error.ctx else ""
        sys.exit(_say(error.format_message(), f"see {hint}" if hint else "", 2))
    except NecroscopeError as error:
        sys.exit(_say(error.message, error.hint, error.exit_code))
    except (ReaderGone, BrokenPipeError):
        _abandon_output()
        sys.exit(_READER_GONE)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            sys.exit(_say_defect())
        _abandon_output()
        sys.exit(_say(f"the output cannot be written: {error.strerror}.", "make room, or write elsewhere", 3))
    except Exception:
        sys.exit(_say_defect())


def _carried_out(arguments: list[str] | None) -> int:
    """The exit code of the verb, once all that it printed is out."""
    try:
        code = main.main(args=arguments, prog_name=NAME, standalone_mode=False) or 0
    except (click.exceptions.Exit, SystemExit) as leave:
        code = leave.exit_code if isinstance(leave, click.exceptions.Exit) else leave.code
    sys.stdout.flush()
    return int(code or 0)


def _buffer_output() -> None:
    """With PYTHONUNBUFFERED, as in many containers, Python writes once and drops what a pipe did not take."""
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):
        file, encoding, errors = io.BufferedWriter(raw), sys.stdout.encoding, sys.stdout.errors
        sys.stdout = io.TextIOWrapper(file, encoding, errors, line_buffering=sys.stdout.isatty())


def _distrust_temporary_folder() -> None:
    """With privileges, a $TMPDIR in which somebody else could put other files in place of ours is not used."""
    folder = os.environ.get("TMPDIR")
    if not folder:
        return
    from pathlib import Path

    from necroscope.sense.ownership import privileged, weak_part

    try:
        weak = privileged() and weak_part(Path(folder).absolute())
    except OSError:
        weak = folder
    if weak:
        del os.environ["TMPDIR"]


def _say(message: str, hint: str, code: int) -> int:
    from necroscope.show.plain import plain

    click.echo(f"necroscope: {plain(' '.join(message.split()))}", err=True)
    if hint:
        click.echo(f"  hint: {plain(hint)}", err=True)
    return code


def _say_defect() -> int:
    """A defect of ours: one line, and where the details are."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="necroscope-defect-", suffix=".txt", delete=False) as file:
        traceback.print_exc(file=file)
    summary = traceback.format_exc().strip().rpartition("\n")[2]
    return _say(f"internal error: {summary}", f"the details are in {file.name}; please report them", 4)


def _abandon_output() -> None:
    """The reader went away (`| head`), or there is no room: nothing may be flushed there any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
