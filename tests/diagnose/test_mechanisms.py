"""The catalogue: ours, users' additions, and what is said of files that are not right."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from necroscope.diagnose.mechanisms import Broken, Mechanism, catalogue, load, mechanisms

GOOD = """
[[mechanisms]]
id = "my-walk"
title = "our module walks its table"
expensive = "It is long."
references = ["our wiki"]
functions = ["my_table_walk", "my_*_scan"]
priority = 95
confirm = [{ fact = "zombies", at_least = 5, because = "{value} entries" }]
remedies = [{ action = "restart", for = ["unit"], command = "restart {subject}", text = "t", risk = "gap", cost = "c" }]
"""


def _folder(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path


def test_a_users_mechanism_is_added_to_ours(tmp_path: Path) -> None:
    found = catalogue([_folder(tmp_path, mine=GOOD)])
    (mine,) = [one for one in found.mechanisms if one.id == "my-walk"]
    assert len(found.mechanisms) == len(mechanisms(())) + 1
    assert found.warnings == ()
    assert (mine.priority, mine.functions, mine.least_share) == (95, ("my_table_walk", "my_*_scan"), 0.3)
    assert mine.confirm[0].at_least == 5.0
    assert mine.source == str(tmp_path / "mine.toml")


def test_a_users_mechanism_takes_the_place_of_ours_and_later_files_win(tmp_path: Path) -> None:
    first, second = (GOOD.replace("my-walk", "zombie-memcg").replace("95", str(n)) for n in (11, 12))
    found = mechanisms([_folder(tmp_path, a=first, b=second)])
    assert len(found) == len(mechanisms(()))
    assert [one.priority for one in found if one.id == "zombie-memcg"] == [12]


def test_braces_of_the_shell_are_no_placeholders(tmp_path: Path) -> None:
    command = "cd ${HOME}; find a{b,c} -exec awk '{ print $1 }' {} + ; restart {subject}"
    found = catalogue([_folder(tmp_path, mine=GOOD.replace("restart {subject}", command))])
    assert found.warnings == ()
    assert found.mechanisms[-1].advice[0].remedy.command == command


def test_a_folder_that_is_not_there_is_no_fault(tmp_path: Path) -> None:
    assert catalogue([tmp_path / "no"]).warnings == ()


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('id = "my-walk"', 'id = "My Walk"', 3, "small letters"),
        ('id = "my-walk"\n', "", 2, "id is missing"),
        ("priority = 95", "priority = 900", 8, "0 to 100"),
        ("priority = 95", "prioritty = 95", 8, "'prioritty' is unknown"),
        ("priority = 95", "least_share = 1.5", 8, "least_share"),
        ("priority = 95", 'role = "thief"', 8, "role must be one of"),
        ("priority = 95", 'needs_kernel_time = "yes"', 8, "true or false"),
        ('"my_*_scan"', '"my scan"', 7, "no name of a function"),
        ('"my_*_scan"', "3", 7, "list of texts"),
        ("at_least = 5, ", "", 9, "at_least or at_most"),
        ("at_least = 5", 'at_least = "5"', 9, "must be numbers"),
        ('"zombies"', '"Zombies!"', 9, "no name of a fact"),
        ('"{value} entries"', '""', 9, "because"),
        (
            "{value} entries",
            "{value.__class__} {x} {",
            9,
            "`because` of zombies may have {value}, {percent} and {limit}",
        ),
        ("{value} entries", "{value!r}", 9, "no other braces"),
        ("{value} entries", "{value} {", 9, "no other braces"),
        ("restart {subject}", "restart {name} {subject}", 10, "{name} in a command is unknown; there is {subject}"),
        ("restart {subject}", "restart {subject.name}", 10, "{subject.name} in a command is unknown"),
        ('for = ["unit"], ', "", 10, "needs `for`"),
        ('["unit"]', '["pod"]', 10, "list of"),
        ('risk = "gap", ', "", 10, "needs action"),
        ('references = ["our wiki"]', "references = []", 6, "references is missing"),
    ],
)
def test_a_broken_file_is_a_warning_with_its_line(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    assert old in GOOD
    found = catalogue([_folder(tmp_path, bad=GOOD.replace(old, new), good=GOOD.replace("my-walk", "other-walk"))])
    (warning,) = found.warnings
    assert warning.where == f"{tmp_path / 'bad.toml'}, line {line}"
    assert words in warning.message
    assert warning.hint
    assert "other-walk" in {one.id for one in found.mechanisms}
    assert "my-walk" not in {one.id for one in found.mechanisms}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[mechanisms]\n", "is no TOML: .*line 1"),
        ("[mechanisms]\nid = 3\n", "two brackets"),
        ("mechanism = 3\n", "'mechanism' is unknown"),
        (GOOD + GOOD, "twice"),
    ],
)
def test_what_is_no_catalogue_is_a_warning(tmp_path: Path, text: str, words: str) -> None:
    (warning,) = catalogue([_folder(tmp_path, bad=text)]).warnings
    assert re.search(words, f"{warning.message}", re.DOTALL)


def test_bytes_that_are_no_text_and_files_that_are_huge_are_warnings(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "b.toml").write_bytes(b"#" * ((1 << 20) + 1))
    first, second = catalogue([tmp_path]).warnings
    assert "UTF-8" in first.message
    assert "larger" in second.message


def test_a_second_entry_is_found_by_its_own_line(tmp_path: Path) -> None:
    text = GOOD + GOOD.replace("my-walk", "second-walk").replace("priority = 95", "priority = -1")
    (warning,) = catalogue([_folder(tmp_path, bad=text)]).warnings
    assert warning.where.endswith(", line 18")


def test_a_fault_in_ours_would_be_loud() -> None:
    with pytest.raises(Broken, match="priority"):
        load(GOOD.replace("95", "900"), "")


def test_what_is_shown_as_a_sentence_begins_as_one() -> None:
    for one in mechanisms(()):
        for advice in one.advice:
            assert advice.remedy.text[0].isupper(), f"{one.id}: {advice.remedy.text}"


PAGE = (Path(__file__).parents[2] / "docs" / "mechanisms.md").read_text("utf-8")


def test_every_mechanism_is_on_the_page_as_it_is() -> None:
    listed = dict(re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \| (?:who causes|somebody|the kernel)", PAGE, re.MULTILINE))
    assert listed == {one.id: one.title for one in mechanisms(())}


def test_every_field_and_fact_is_on_the_page() -> None:
    for field in fields(Mechanism):
        if field.name not in ("advice", "source"):
            assert f"`{field.name}`" in PAGE, field.name
    told = set(re.findall(r"`([a-z_*]+)`", PAGE.partition("## Facts")[2]))
    wild = tuple(name.removesuffix("*") for name in told if name.endswith("*"))
    for one in mechanisms(()):
        for check in (*one.confirm, *one.refute):
            assert check.fact in told or check.fact.startswith((*wild, "cpu_context_switches")), check.fact


def test_every_fact_is_one_that_is_gathered() -> None:
    signals = (Path(__file__).parents[2] / "docs" / "signals.md").read_text("utf-8")
    known = set(re.findall(r"^\| `([a-z_0-9]+)` \|", signals, re.MULTILINE))
    known |= {"zombies", "tracked", "directories", "cores", "execs", "oom_kills", "kernel_share", "pids"}
    known |= {"suspect_starts", "seconds_per_start", "memcg_steps"}
    known |= {f"core_{mode}" for mode in ("user", "system", "irq", "softirq", "steal")}
    known |= {f"pressure_{resource}" for resource in ("cpu", "memory", "io")}
    for one in mechanisms(()):
        for check in (*one.confirm, *one.refute):
            assert check.fact.removesuffix("_lift") in known, f"{one.id}: {check.fact}"


def test_the_pages_example_loads() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (one,) = load(example, "page")
    assert (one.id, one.functions) == ("our-table-walk", ("acme_extent_walk", "acme_*_flush"))
