"""Every unit file of an image, with how it would stand after a boot: enabled, disabled, static or masked; who wants it.

Folders in systemd's own order: a file in an earlier one takes the place of one of the same name. A link to /dev/null
masks a unit, other links are aliases. What wants a unit stands in folders NAME.wants and NAME.requires.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.image.presets import Rule, preset_of, read_presets
from necroscope.sense.image.unit_file import UnitFile, parse_unit_file
from necroscope.vocabulary.conclusions.audit import Workload
from necroscope.vocabulary.model import UnitState, Unseen

OWN = ("/etc/systemd/system", "/run/systemd/system")
VENDOR = ("/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
KINDS = (".service", ".timer", ".socket", ".path")
MOST_UNITS = 2000
_FILE_BYTES, _NAMES_MOST, _DROP_INS_MOST = 256 << 10, 8000, 20


@dataclass
class _Tree:
    """What the folders hold: paths of unit files by name, masked names, and who wants or requires whom."""

    paths: dict[str, str] = field(default_factory=dict)
    masked: set[str] = field(default_factory=set)
    wanted_by: dict[str, list[str]] = field(default_factory=dict)
    required_by: dict[str, list[str]] = field(default_factory=dict)
    linked: set[str] = field(default_factory=set)
    """Units that somebody enabled: links in the folders of the administrator."""
    cut: bool = False


def read_image_units(host: Host) -> tuple[list[Workload], list[Unseen]]:
    """Every unit of the image. `Unavailable` where there are no unit files at all."""
    tree = _tree(host)
    if not tree.paths:
        raise Unavailable("no unit files of systemd are below this root", "give the folder that has /usr and /etc")
    rules = read_presets(host)
    files = {name: _file(host, name, path) for name, path in islice(sorted(tree.paths.items()), MOST_UNITS)}
    instances = {name for name in tree.wanted_by if "@" in name and name not in files and _template(name) in files}
    known = {**files, **{name: files[_template(name)] for name in instances}}
    needed_by = _needed_by(known, tree)
    found = [_workload(name, one, tree, rules, needed_by.get(name, ())) for name, one in sorted(known.items())]
    cut = tree.cut or len(tree.paths) > MOST_UNITS
    return found, [Unseen("image", f"only {MOST_UNITS} units were read: there are more")] if cut else []


def _tree(host: Host) -> _Tree:
    tree = _Tree()
    for folder in (*OWN, *VENDOR):
        for name in _names(host, folder, tree):
            path = f"{folder}/{name}"
            if name.endswith((".wants", ".requires")):
                _links(host, path, folder in OWN, tree)
            elif name.endswith(KINDS):
                _place(host, name, path, tree)
    return tree


def _names(host: Host, folder: str, tree: _Tree) -> Iterator[str]:
    try:
        names = host.names(folder)
    except Unavailable:
        return
    tree.cut |= len(names) > _NAMES_MOST
    yield from names[:_NAMES_MOST]


def _place(host: Host, name: str, path: str, tree: _Tree) -> None:
    if name in tree.paths or name in tree.masked:
        return
    target = host.target(path) or ""
    if target == "/dev/null":
        tree.masked.add(name)
        tree.paths[name] = path
    elif not target:
        tree.paths[name] = path
    elif target.rpartition("/")[2] == name:
        # A file that lies elsewhere and was linked in.
        tree.paths[name] = target if target.startswith("/") else path
        tree.linked.add(name)


def _links(host: Host, folder: str, own: bool, tree: _Tree) -> None:
    by = folder.rpartition("/")[2]
    wanted = tree.required_by if by.endswith(".requires") else tree.wanted_by
    for name in _names(host, folder, tree):
        wanted.setdefault(name, []).append(by.rpartition(".")[0])
        if own:
            tree.linked.add(name)


def _file(host: Host, name: str, path: str) -> UnitFile:
    texts = [host.read_or_none(path, _FILE_BYTES) or b""]
    for folder in (*VENDOR[::-1], *OWN[::-1]):
        place = f"{folder}/{name}.d"
        if host.exists(place):
            texts += [
                host.read_or_none(f"{place}/{one}", _FILE_BYTES) or b""
                for one in _names(host, place, _Tree())
                if one.endswith(".conf")
            ][:_DROP_INS_MOST]
    return parse_unit_file(*texts)


def _needed_by(files: dict[str, UnitFile], tree: _Tree) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {name: list(by) for name, by in tree.required_by.items()}
    for name, one in files.items():
        for needed in one.requires:
            found.setdefault(needed, []).append(name)
    return {name: tuple(dict.fromkeys(by))[:50] for name, by in found.items()}


def _workload(name: str, one: UnitFile, tree: _Tree, rules: tuple[Rule, ...], needed_by: tuple[str, ...]) -> Workload:
    masked = name in tree.masked
    wanted = tuple(dict.fromkeys(tree.wanted_by.get(name, ())))
    enabled = name in tree.linked
    state = "masked" if masked else "enabled" if enabled else "disabled" if one.installable else "static"
    triggers = (one.starts or f"{name.rpartition('.')[0]}.service",) if not name.endswith(".service") else ()
    unit = UnitState(
        name,
        "",
        "",
        "",
        0,
        restart_policy=one.restart,
        unit_file_state=state,
        preset=preset_of(rules, name),
        wanted_by=wanted,
        triggered_by=tuple(
            f"{name.rpartition('.')[0]}{kind}"
            for kind in (".timer", ".socket", ".path")
            if name.endswith(".service") and f"{name.rpartition('.')[0]}{kind}" in tree.paths
        ),
        fragment_path=tree.paths.get(name, tree.paths.get(_template(name), "")),
    )
    return Workload(unit, None, one.description, one.program, needed_by, triggers, loaded=False)


def _template(name: str) -> str:
    """`getty@tty1.service` is made of `getty@.service`."""
    return f"{name.partition('@')[0]}@.{name.rpartition('.')[2]}" if "@" in name else name
