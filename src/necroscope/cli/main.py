"""The command line: verbs, loaded when they are called, and the one place that turns errors into exit codes."""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from necroscope import __version__
from necroscope.errors import NecroscopeError

VERBS: dict[str, str] = {
    "scan": "Is this node sick, now?",
    "record": "The flight recorder, in the foreground.",
    "why": "The cause of a symptom, its evidence, and what to do.",
    "events": "What happened: symptoms, restarts, cgroups born and removed, marks.",
    "top": "Who took the cores in a window, and what of it is unusual.",
    "heatmap": "Each core over time, or the inside of seconds.",
    "flame": "A flame graph of a window, also against normal.",
    "serve": "The page: the recording as a picture, any five seconds of it, and the verdict.",
    "sql": "Ask the recording in SQL, read-only.",
    "verify": "Is the recording what was recorded? Damage is found, and can be set aside.",
    "mark": "Put an event on the timeline.",
    "export": "A window's profile for other tools: speedscope, pprof, flame graphs, OTLP, Parquet.",
    "import": "Bring in what other tools wrote: perf.data, perf script, mpstat, dmesg, journal, Ray.",
    "bundle": "One file with a window of the recording, or with this instant, for a ticket.",
    "lab": "Incidents made for real on this kernel, with their truth written down.",
    "demo": "The incident made for real, recorded and explained: the newcomer's tour.",
}
# where the command of a verb is; `import` is a word of Python's own
_MODULES = {
    "scan": "node.scan",
    "record": "node.record",
    "mark": "node.mark",
    "why": "look.why",
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
}
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
EXIT_CODES = """\b
Exit codes:
  0  nothing wrong found
  1  something wrong found
  2  bad usage or input
  3  this environment cannot do it (permission, tool, kernel feature), or the answer is inconclusive
  4  internal error, a defect of ours
"""


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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.command(cls=Verbs, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="necroscope")
def main() -> None:
    """Why is this node sick, and what makes it stop?

    \b
    Examples:
      necroscope scan                      one look at this node
      necroscope scan --json | jq .cgroups
      necroscope bundle --now node7.ncb    take the evidence along
      necroscope scan --bundle node7.ncb   and read it elsewhere
    """


def run(arguments: list[str] | None = None) -> NoReturn:
    """The program. Every error leaves one sentence and a hint on stderr, and its exit code."""
    _distrust_temporary_folder()
    try:
        sys.exit(main.main(args=arguments, prog_name="necroscope", standalone_mode=False) or 0)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.Abort:
        sys.exit(_say("stopped.", "", 130))
    except click.ClickException as error:
        hint = error.ctx.command_path + " --help" if isinstance(error, click.UsageError) and error.ctx else ""
        sys.exit(_say(error.format_message(), f"see {hint}" if hint else "", 2))
    except NecroscopeError as error:
        sys.exit(_say(error.message, error.hint, error.exit_code))
    except BrokenPipeError:
        _abandon_output()
        sys.exit(0)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            sys.exit(_say_defect())
        _abandon_output()
        sys.exit(_say(f"the output cannot be written: {error.strerror}.", "make room, or write elsewhere", 3))
    except Exception:
        sys.exit(_say_defect())


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
