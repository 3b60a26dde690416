"""One unit file of systemd, as far as an audit needs it: sections of NAME=VALUE lines, later ones add to lists."""

from __future__ import annotations

from dataclasses import dataclass

_VALUE_CHARACTERS = 2000
_LISTS = ("Requires", "Requisite", "BindsTo", "WantedBy", "RequiredBy")


@dataclass(frozen=True, slots=True)
class UnitFile:
    """What it says. `requires` are units without which this one does not run."""

    description: str = ""
    program: str = ""
    restart: str = ""
    requires: tuple[str, ...] = ()
    wanted_by: tuple[str, ...] = ()
    starts: str = ""
    """Of a timer, socket or path: the unit that it names; empty: the one of its own name."""

    @property
    def installable(self) -> bool:
        """Whether it can be enabled."""
        return bool(self.wanted_by)


def parse_unit_file(*texts: bytes) -> UnitFile:
    """A unit file and its drop-ins, in order. Lines that are none are left out; an empty value empties a list."""
    values: dict[str, list[str]] = {}
    for text in texts:
        for name, value in _pairs(text):
            if not value:
                values.pop(name, None)
            elif name in _LISTS or name == "ExecStart":
                values.setdefault(name, []).append(value)
            else:
                values[name] = [value]
    return UnitFile(
        description=_last(values, "Description")[:200],
        program=_program(values.get("ExecStart", [""])[0]),
        restart=_last(values, "Restart"),
        requires=_names(values, "Requires", "Requisite", "BindsTo"),
        wanted_by=_names(values, "WantedBy", "RequiredBy"),
        starts=_last(values, "Unit") or _last(values, "Service"),
    )


def _pairs(text: bytes) -> list[tuple[str, str]]:
    joined = text.decode("utf-8", "replace").replace("\\\n", " ")
    lines = (line.strip() for line in joined.splitlines())
    told = (line.partition("=") for line in lines if "=" in line and line[0] not in "#;[")
    return [(name.strip(), value.strip()[:_VALUE_CHARACTERS]) for name, _, value in told]


def _last(values: dict[str, list[str]], name: str) -> str:
    return values.get(name, [""])[-1]


def _names(values: dict[str, list[str]], *names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(unit for name in names for value in values.get(name, ()) for unit in value.split()))


def _program(command: str) -> str:
    """The path, without the marks that systemd allows before it."""
    first = command.lstrip("@-:+!|").split(maxsplit=1)
    return first[0] if first and first[0].startswith("/") else ""
