"""`necroscope audit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from necroscope.cli.shared.options import config_option, console, output_options
from necroscope.errors import BadInput

if TYPE_CHECKING:
    from rich.console import Console

    from necroscope.diagnose.audit import Roles
    from necroscope.store.read.reader import Store
    from necroscope.vocabulary.conclusions.audit import AuditReport

_FILE = click.Path(path_type=Path, dir_okay=False)
_REVIEW_DAYS = 90
_FILE_BYTES = 4 << 20


@click.command()
@click.option("--store", type=click.Path(path_type=Path), help="Recording with the runs of units (default: the usual).")
@click.option("--root", type=click.Path(path_type=Path), help="Audit the files of an image that is not booted.")
@click.option("--all", "every", is_flag=True, help="Also what is needed and what is idle, one line each.")
@click.option("--baseline", type=_FILE, help="A golden image's list: differences are told, and exit with 1.")
@click.option("--policy", type=_FILE, help="Which agents are allowed: breaches and overdue reviews exit with 1.")
@click.option("--write-baseline", type=_FILE, help="Write the list of this node, or image, for --baseline.")
@click.option("--write-policy", type=_FILE, help="Write a policy of what is there, to be filled in.")
@click.option("--force", is_flag=True, help="Let --write-... replace a file.")
@click.option(
    "--roles",
    "folder",
    envvar="NECROSCOPE_ROLES",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder of your own roles, after /etc/necroscope/roles.d (default: $NECROSCOPE_ROLES).",
)
@config_option
@output_options
def audit(
    store: Path | None,
    root: Path | None,
    every: bool,
    baseline: Path | None,
    policy: Path | None,
    write_baseline: Path | None,
    write_policy: Path | None,
    force: bool,
    folder: Path | None,
    config_file: Path | None,
    as_json: bool,
    no_color: bool,
    quiet: bool,
) -> int:
    """What runs on this node, what has no business here, and what fails. Changes nothing.

    Every unit and container with its role, how often it succeeds and restarts, what it costs, who needs it, why it
    runs, and a judgement with reasons: needed, idle, failing, orphaned (it belongs to an orchestrator that does not own
    this node) or unknown.

    Exit codes: 0 nothing is orphaned or failing, 1 something is, or differs from the baseline or the policy, 2 bad
    usage or input, 3 neither systemd nor a container engine could be asked.

    \b
    Examples:
      necroscope audit
      necroscope audit --root /mnt/image          before anybody boots it
      necroscope audit --write-baseline gold.toml     on the golden image
      necroscope audit --baseline gold.toml       on a node
      necroscope audit --policy agents.toml
      necroscope audit --json | jq '.audited[] | select(.judgement == "orphaned") | .subject.name'
    """
    from necroscope import config
    from necroscope.scan.audit import audit as audited
    from necroscope.sense.host import Host

    if root is not None and store is not None:
        raise BadInput("--root is about an image, of which there is no recording.", "leave out --store")
    host = Host() if root is None else Host(root)
    roles, settings = _roles(folder), config.load(config_file)
    recording = _recording(store) if not host.captured else None
    report = _compared(audited(host, roles, settings, recording), baseline, policy)
    _write(report, write_baseline, write_policy, force, quiet)
    if not quiet:
        _print(report, console(no_color), as_json, every)
    return 3 if report.blind else int(report.sick)


def _roles(folder: Path | None) -> Roles:
    from necroscope.scan.role_files import DEFAULT, load_roles
    from necroscope.show.plain import plain

    if folder is not None and not folder.is_dir():
        raise BadInput(f"{folder} is no folder.", "give --roles a folder of TOML files")
    roles = load_roles((*DEFAULT, folder) if folder is not None else DEFAULT)
    for one in roles.warnings:
        click.echo(f"necroscope: {plain(f'{one.where} {one.message}')}\n  hint: {plain(one.hint)}", err=True)
    return roles


def _recording(given: Path | None) -> Store | None:
    """The recording: what --store says must be there, the usual one may."""
    from necroscope.store.place import to_read
    from necroscope.store.read.reader import Store

    if given is not None:
        return Store(given)
    try:
        return Store(to_read(None))
    except BadInput:
        return None


def _compared(report: AuditReport, baseline: Path | None, policy: Path | None) -> AuditReport:
    from dataclasses import replace

    from necroscope.clock import today
    from necroscope.diagnose.audit.baseline import deviations, parse_baseline
    from necroscope.diagnose.audit.policy import breaches, parse_policy, stale

    if baseline is not None:
        found = parse_baseline(_text(baseline), str(baseline))
        report = replace(report, deviations=deviations(found, report.facts.workloads))
    if policy is not None:
        rules = parse_policy(_text(policy), str(policy))
        broken = breaches(rules, report.audited, today())
        report = replace(report, breaches=broken, stale=stale(rules, report.audited))
    return report


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_FILE_BYTES + 1)
        if len(data) > _FILE_BYTES:
            raise BadInput(f"{path} is larger than {_FILE_BYTES:,} bytes.", "give a file that an audit wrote")
        return data.decode("utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.", "give a readable file") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is no UTF-8 text.", "give a TOML file") from error


def _write(report: AuditReport, baseline: Path | None, policy: Path | None, force: bool, quiet: bool) -> None:
    from datetime import timedelta

    from necroscope.clock import today
    from necroscope.diagnose.audit.baseline import listed
    from necroscope.diagnose.audit.policy import subject_to_policy
    from necroscope.show.audit.written import baseline_toml, policy_toml

    if baseline is not None:
        rows = [(one.kind, one.name, one.state) for one in listed(report.facts.workloads)]
        _save(baseline, baseline_toml(rows), force, quiet)
    if policy is not None:
        mine = [one for one in report.audited if subject_to_policy(one)]
        _save(policy, policy_toml(mine, today() + timedelta(days=_REVIEW_DAYS)), force, quiet)


def _save(path: Path, text: str, force: bool, quiet: bool) -> None:
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise BadInput(f"{path} exists.", "name another file, or add --force") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}.", "give another file") from error
    if not quiet:
        click.echo(f"{path}: {text.count('[[')} entries", err=True)


def _print(report: AuditReport, out: Console, as_json: bool, every: bool) -> None:
    import json

    from necroscope.cli.shared.reports import write_text
    from necroscope.show.audit.document import audit_document
    from necroscope.show.audit.text import print_audit

    if as_json:
        click.echo(json.dumps(audit_document(report), indent=2))
    else:
        write_text(out, lambda console: print_audit(report, console, every))
