"""The page's code: types, pure modules, and that what is vendored is what was published."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from necroscope.serve.static_files import files

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src" / "necroscope" / "serve" / "static"
NODE = pytest.mark.skipif(shutil.which("node") is None, reason="needs node (Debian: nodejs)")
pytestmark = pytest.mark.program
_GZIPPED = 300 << 10


@NODE
def test_units_of_the_pure_modules() -> None:
    found = sorted((ROOT / "tests" / "serve" / "page").glob("*.test.js"))
    assert len(found) >= 5
    environment = {**os.environ, "TZ": "Asia/Kolkata"}
    done = subprocess.run(["node", "--test", *found], capture_output=True, text=True, env=environment, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-4000:]
    assert re.search(r"# pass [1-9]\d", done.stdout)


@NODE
@pytest.mark.skipif(not (ROOT / "node_modules" / "typescript").is_dir(), reason="needs typescript (npm ci)")
def test_types() -> None:
    tsc = ROOT / "node_modules" / "typescript" / "bin" / "tsc"
    done = subprocess.run(["node", tsc, "--project", "tsconfig.json"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-4000:]


def test_what_is_vendored_is_what_was_published() -> None:
    told = (STATIC / "vendor" / "PACKAGES.txt").read_text("utf-8")
    hashes = re.findall(r"^([0-9a-f]{64})  (\S+)$", told, re.MULTILINE)
    assert {name for _, name in hashes} == {path.name for path in (STATIC / "vendor").iterdir()} - {
        "PACKAGES.txt",
        "lit-html.d.ts",
    }
    for digest, name in hashes:
        assert hashlib.sha256((STATIC / "vendor" / name).read_bytes()).hexdigest() == digest, name
    pinned = json.loads((ROOT / "package.json").read_text("utf-8"))
    for package, version in pinned["dependencies"].items():
        assert f"{package} {version}," in told
    for version in (*pinned["dependencies"].values(), *pinned["devDependencies"].values()):
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), "pinned, not a range"


@pytest.mark.skipif(not (ROOT / "node_modules" / "lit-html").is_dir(), reason="needs the packages (npm ci)")
def test_the_package_holds_the_same_file() -> None:
    assert (ROOT / "node_modules" / "lit-html" / "lit-html.js").read_bytes() == (
        STATIC / "vendor" / "lit-html.js"
    ).read_bytes()


def test_modules_import_only_each_other_and_pure_ones_only_pure_ones() -> None:
    order = {"lib": {"lib"}, "draw": {"lib", "draw"}, "views": {"lib", "draw", "views", "vendor", ""}}
    for path in sorted(STATIC.rglob("*.js")):
        if path.parent.name == "vendor":
            continue
        for target in re.findall(
            r'^(?:import|export)\b.*?from "([^"]+)";', path.read_text("utf-8"), re.MULTILINE | re.DOTALL
        ):
            there = (path.parent / target).resolve()
            assert there.is_file(), (path.name, target)
            room = there.relative_to(STATIC).parts[0] if there.parent != STATIC else ""
            assert room in order.get(path.parent.name, {"lib", "draw", "views", "vendor"}), (path.name, target)


def test_pure_modules_touch_no_page() -> None:
    for path in sorted((STATIC / "lib").glob("*.js")):
        if path.name != "api.js":
            code = re.sub(r"(?s)/\*.*?\*/|//[^\n]*", "", path.read_text("utf-8"))
            assert not re.search(r"\b(?:document|window|localStorage)\.|\bfetch\(", code), path.name


def test_nothing_is_loaded_from_elsewhere_and_nothing_is_inline() -> None:
    for name, file in files().items():
        text = file.data.decode()
        if name.startswith("vendor/"):
            continue
        assert not re.search(r"""(?:src|href|import|url)\s*[=(]\s*["']?(?:https?:)?//""", text), name
        assert not re.search(r"\beval\(|new Function|innerHTML|insertAdjacentHTML|document\.write", text), name
    page = files()["index.html"].data.decode()
    assert "<style" not in page
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)


def test_the_page_is_small() -> None:
    import gzip

    sizes = {name: len(gzip.compress(file.data)) for name, file in files().items() if not name.endswith(".txt")}
    assert sum(sizes.values()) < _GZIPPED / 3, sizes
