"""The page's modules as one script, for a file that stands by itself: the same code, what is needed first first.

Our modules keep to what this understands: imports of one line, and exports of functions, classes and constants by name.
"""

from __future__ import annotations

import posixpath
import re

from necroscope.serve.static_files import files

_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
_LIST = re.compile(r"export\{([^}]*)\};")
_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)


def script(main: str = "main.js") -> str:
    """One script that does what the module does. `ValueError` where modules need each other in a circle."""
    made: dict[str, str] = {}
    _add(main, made, ())
    return "(() => {\n'use strict';\nconst modules = {};\n" + "".join(made.values()) + "})();\n"


def _add(path: str, made: dict[str, str], above: tuple[str, ...]) -> None:
    if path in made:
        return
    if path in above:
        raise ValueError(f"{path} needs itself, through {', '.join(above)}")
    text = _SOURCE_MAP.sub("", files()[path].data.decode())
    for found in _IMPORT.finditer(text):
        _add(_beside(path, found[2]), made, (*above, path))
    made[path] = _wrapped(path, text)


def _wrapped(path: str, text: str) -> str:
    names = {name: name for _, name in _EXPORT.findall(text)}
    text = _IMPORT.sub(lambda found: f"const {{{_renamed(found[1])}}} = modules[{_beside(path, found[2])!r}];", text)
    text = _EXPORT.sub(r"\1 \2", text)
    if listed := _LIST.search(text):
        pairs = (part.split(" as ") for part in listed[1].split(","))
        names |= {pair[-1].strip(): pair[0].strip() for pair in pairs}
        text = _LIST.sub("", text)
    if re.search(r"^(?:import|export)\b", text, re.MULTILINE):
        raise ValueError(f"{path} imports or exports in a way that is not understood")
    given = ", ".join(f"{name}: {own}" for name, own in names.items())
    return f"modules[{path!r}] = (() => {{\n{text}\nreturn {{ {given} }};\n}})();\n"


def _renamed(names: str) -> str:
    return re.sub(r"\s+as\s+", ": ", names)


def _beside(path: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
