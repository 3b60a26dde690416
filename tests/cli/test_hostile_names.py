"""Names that anybody chose, in every place that a recording has: no verb fails, and what is printed is plain."""

from __future__ import annotations

import json
import shutil
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

import pytest

from stage.hostile import fill
from stage.program import Program

NAMES = (
    *("\x1b[31mred\x07", "\x1b]0;title\x07", "\u202e\u200bevil", "a\x1eb\x1fc", "a\nb\r\tc", "\x9b31m\x85"),
    *("\udcff\udced\udca0", "\0", "<script>alert(1)</script>", "]]><script>", "&lt;'\"", "[bold]red[/bold]"),
    *(
        "[link=file:///etc/passwd]x[/]",
        ":smile:",
        "'\";$(id)`id`",
        "{}%s%n\\0",
        ") R 1 1 0 (x",
        "a,b=c|d",
        "   ",
        "-rf",
    ),
    *("--store", "../../etc/passwd", "\u2028\u2029", "\ufeff", "x" * 4096, "\u0301" * 500, "/" * 4000),
    *("n\u00e9\u4e16\U0001f600", "swapper/0", "[kernel]", "default_idle"),
)
OBEYED = ("Cc", "Cf", "Cs", "Zl", "Zp")
VIEWS = ("samples", "stacks", "events", "units", "processes", "zombie_names", "signals")
VERBS = (
    *(("events",), ("top",), ("heatmap",), ("flame",), ("why",), ("why", "--all"), ("why", "--event", "mark")),
    ("events", "--patterns"),
    *(("top", "--by", by, "-n", "500") for by in ("thread", "function", "self", "cgroup", "module")),
    *(("sql", f"select * from {view}") for view in VIEWS),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "store"
    fill(folder, NAMES)
    return folder


def obeyed(text: str) -> set[str]:
    """Characters that move a cursor, turn text around or end a line, other than the program's own."""
    return {letter for letter in text if letter != "\n" and unicodedata.category(letter) in OBEYED}


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_nothing_that_a_terminal_obeys_is_printed(necroscope: Program, store: Path, verb: tuple[str, ...]) -> None:
    ran = necroscope(*verb, "--store", store, columns=200)
    assert ran.code in (0, 1, 3), ran.err
    assert ran.out
    assert (obeyed(ran.out), obeyed(ran.err)) == (set(), set())
    if verb == ("events",):
        assert "\\x1b[31mred" in ran.out
    if "--patterns" not in verb:
        as_json = necroscope(*verb, "--store", store, "--json")
        assert as_json.code == ran.code
        json.loads(as_json.out)
        assert obeyed(as_json.out) == set()


@pytest.mark.parametrize("verb", ["flame", "heatmap"])
def test_pictures_have_the_programs_own_script_only(
    necroscope: Program, store: Path, tmp_path: Path, verb: str
) -> None:
    picture = tmp_path / "picture.svg"
    ran = necroscope(verb, "--store", store, "-o", picture)
    assert ran.code == 0, ran.err
    root = ElementTree.fromstring(picture.read_text("utf-8"))
    assert len([one for one in root.iter() if one.tag.endswith("script")]) == 1
    assert obeyed(picture.read_text("utf-8")) <= {"\t"}
    attributes = [(name, value) for one in root.iter() for name, value in one.attrib.items()]
    assert not [name for name, _ in attributes if name.startswith("on")]
    links = {value.partition(",")[0] for name, value in attributes if name.endswith("href")}
    assert links <= {"data:image/png;base64"}


@pytest.mark.parametrize("how", ["folded", "speedscope", "pprof", "otlp", "otlp-json", "parquet"])
def test_profiles_can_be_exported(necroscope: Program, store: Path, tmp_path: Path, how: str) -> None:
    ran = necroscope("export", "--store", store, "--format", how, "-o", tmp_path / "profile", "--idle")
    assert ran.code == 0, ran.err
    assert (tmp_path / "profile").stat().st_size > 1000


def test_a_bundle_of_it_is_read_again(necroscope: Program, store: Path, tmp_path: Path) -> None:
    for number, options in enumerate(((), ("--redact",))):
        file = tmp_path / f"{number}.ncb"
        assert necroscope("bundle", file, "--store", store, *options, "-q").code == 0
        for verb in VERBS[:7]:
            ran = necroscope(*verb, "--bundle", file)
            assert ran.code in (0, 1, 3), ran.err
            assert (obeyed(ran.out), obeyed(ran.err)) == (set(), set())


@pytest.mark.parametrize("name", [NAMES[0], NAMES[2], NAMES[6]])
def test_names_that_are_given_are_told_plainly(necroscope: Program, store: Path, name: str) -> None:
    for option in ("--process", "--cgroup", "--event-type", "--event"):
        ran = necroscope("top", "--store", store, option, name)
        # 3: little of the window was recorded
        assert ran.code in (0, 2, 3), ran.err
        assert (obeyed(ran.out), obeyed(ran.err)) == (set(), set())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("top", "--process", "\u00b2"), "process \u00b2"),
        (("top", "--event", "9" * 5000), "The recording has no event 999"),
        (("why", "--event", "9" * 5000), "The recording has no event 999"),
        (("why", "--event", str(1 << 64)), "The recording has no event 18446744073709551616"),
        (("top", "--at", "-1s", "--before", "9" * 30 + "h"), "is longer than a hundred years"),
        (("top", "--at", "1970-01-02T00:00:00Z", "--before", "90000h"), "in 1970-01-01T00:00:00.000Z to"),
        (("top", "--at", "2261-12-31T00:00:00Z", "--after", "90000h"), "to 2262-04-11T23:46:16.854Z"),
    ],
)
def test_numbers_beyond_all_bounds_are_a_sentence(
    necroscope: Program, store: Path, arguments: tuple[str, ...], words: str
) -> None:
    ran = necroscope(*arguments, "--store", store)
    # 3: a time that was not recorded
    assert ran.code == (3 if words.startswith(("in ", "to ")) else 2)
    assert words in ran.err
    assert len(ran.err) < 2000


@pytest.mark.parametrize("verb", [("events",), ("sql", "select * from events"), ("top",), ("flame",), ("heatmap",)])
def test_a_damaged_recording_in_a_hostile_folder_is_told_plainly(
    necroscope: Program, store: Path, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    copy = tmp_path / "a\x1b[31m\u202eb\nc"
    shutil.copytree(store, copy)
    for file in copy.glob("segments/*/*.parquet"):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 255
        data[len(data) // 3] ^= 255
        file.write_bytes(data)
    ran = necroscope(*verb, "--store", copy)
    assert ran.code in (0, 2, 3), ran.err
    assert "\\x1b[31m" in ran.err
    assert (obeyed(ran.out), obeyed(ran.err)) == (set(), set())
