"""The catalogue: ours, users' additions, and what is said of files that are not right."""

from __future__ import annotations

import re

import pytest

from necroscope.diagnose.hypotheses import Catalogue, catalogue, load
from necroscope.diagnose.hypotheses.values import Broken

MECHANISM = """
[[mechanisms]]
id = "my-walk"
title = "our module walks its table"
expensive = "It is long."
references = ["our wiki"]
functions = ["my_table_walk", "my_*_scan"]
priority = 95
confirm = [{ fact = "zombies", at_least = 5, because = "{value} entries" }]
remedies = [{ action = "restart", for = ["unit"], command = "restart {subject}", text = "t", risk = "gap", cost = "c" }]
storm = { processes = 9, seconds_each = 0.1, kernel = 0.2 }
ordered_by = { functions = ["my_send"], outside = ["nic_rx_packets", "softnet_processed_packets"], least_unknown = 0.3 }
"""
RIVAL = """
[[rivals]]
id = "my-rival"
title = "our device is slow"
measure = "rise"
fact = "device_busy"
says = "it was busy for {percent}"
untested = "the device does not tell"
scale = 0.5
rate = "device_requests"
rate_of = "requests"
same = ["my-walk"]
cause = true
"""
STACKS = """
[stacks]
see_through = ["my_step"]

[stacks.measures]
my_steps = ["my_table_walk"]
"""
GOOD = MECHANISM + RIVAL + STACKS


def _with(**files: str) -> Catalogue:
    """Ours and these files, called a.toml and so on."""
    return catalogue((f"{name}.toml", text.encode()) for name, text in files.items())


# -- users' files --------------------------------------------------------------------------------------------


def test_a_users_entries_are_added_to_ours() -> None:
    ours, found = catalogue(), _with(mine=GOOD)
    mine, rival = found.of("my-walk"), found.of("my-rival")
    assert found.warnings == ()
    assert len(found.mechanisms) == len(ours.mechanisms) + 1
    assert len(found.rivals) == len(ours.rivals) + 1
    assert mine is not None
    assert (mine.sort, mine.priority, mine.functions) == ("mechanism", 95, ("my_table_walk", "my_*_scan"))
    assert (mine.least_share, mine.role, mine.needs_kernel_time) == (0.3, "culprit", True)
    assert (mine.confirm[0].at_least, mine.confirm[0].usual) == (5.0, False)
    assert mine.source == "mine.toml"
    assert mine.storm is not None
    assert (mine.storm.processes, mine.storm.loading) == (9.0, ())
    assert mine.ordered_by is not None
    assert (mine.ordered_by.least, mine.ordered_by.outside_share, mine.ordered_by.least_unknown) == (0.05, 0.5, 0.3)
    assert rival is not None
    assert (rival.sort, rival.measure, rival.fact, rival.scale) == ("rival", "rise", "device_busy", 0.5)
    assert (rival.same, rival.cause, rival.noticed_only) == (("my-walk",), True, False)
    assert found.titles["my-walk"] == "our module walks its table"
    assert found.titles["my-rival"] == "our device is slow"


def test_a_users_see_through_and_measures_are_added_to_ours() -> None:
    ours, found = catalogue(), _with(mine=STACKS)
    assert found.see_through == ours.see_through | {"my_step"}
    assert found.measures == {**ours.measures, "my_steps": ("my_table_walk",)}
    assert set(ours.measures) == {"memcg_steps"}


def test_a_users_entry_takes_the_place_of_ours_and_later_files_win() -> None:
    first, second = (MECHANISM.replace("my-walk", "zombie-memcg").replace("95", str(n)) for n in (11, 12))
    found = _with(a=first, b=second)
    assert [one.id for one in found.mechanisms] == [one.id for one in catalogue().mechanisms]
    assert [one.priority for one in found.mechanisms if one.id == "zombie-memcg"] == [12]


def test_a_users_rival_takes_the_place_of_ours() -> None:
    found = _with(mine=RIVAL.replace("my-rival", "steal"))
    assert [one.id for one in found.rivals] == [one.id for one in catalogue().rivals]
    steal = found.of("steal")
    assert steal is not None
    assert steal.fact == "device_busy"


def test_braces_of_the_shell_are_no_placeholders() -> None:
    command = "cd ${HOME}; find a{b,c} -exec awk '{ print $1 }' {} + ; restart {subject}"
    found = _with(mine=GOOD.replace("restart {subject}", command))
    assert found.warnings == ()
    assert found.mechanisms[-1].advice[0].remedy.command == command


def test_the_entry_for_what_no_other_one_names() -> None:
    user, kernel = catalogue().nameless("user"), catalogue().nameless("kernel")
    assert user is not None
    assert kernel is not None
    assert (user.id, kernel.id) == ("user-hog", "unknown-mechanism")
    assert load(MECHANISM, "x").nameless("user") is None
    assert catalogue().of("no-such-thing") is None


# -- broken files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ('id = "my-walk"', 'id = "My Walk"', "id", "small letters"),
        ('id = "my-walk"\n', "", "[[mechanisms]]", "id is missing"),
        ('title = "our module walks its table"', "title = 3", "title", "must be a text"),
        ("priority = 95", "priority = 900", "priority", "0 to 100"),
        ("priority = 95", "priority = true", "priority", "0 to 100"),
        ("priority = 95", "prioritty = 95", "prioritty", "'prioritty' is unknown"),
        ("priority = 95", "least_share = 1.5", "least_share", "above 0 and at most 1"),
        ("priority = 95", "least_share = 0", "least_share", "above 0 and at most 1"),
        ("priority = 95", 'role = "thief"', "role", "role must be one of"),
        ("priority = 95", 'grows = "files"', "grows", "'zombies'"),
        ("priority = 95", 'nameless = "all"', "nameless", "'kernel'"),
        ("priority = 95", 'needs_kernel_time = "yes"', "needs_kernel_time", "true or false"),
        ("priority = 95", 'same = "zombie-memcg"', "same", "list of texts"),
        ("priority = 95", 'measure = "rise"', "measure", "'measure' is unknown"),
        ("priority = 95", 'within = ["a b"]', "within", "no name of a function"),
        ('"my_*_scan"', '"my scan"', "functions", "no name of a function"),
        ('"my_*_scan"', "3", "functions", "list of texts"),
        ("at_least = 5, ", "", "confirm", "at_least or at_most"),
        ("at_least = 5", 'at_least = "5"', "confirm", "must be numbers"),
        ("at_least = 5", "at_least = nan", "confirm", "must be numbers"),
        ("at_least = 5", "at_least = 5, usual = 1", "confirm", "usual must be true or false"),
        ("at_least = 5", "at_least = 5, unusual = true", "confirm", "at_least or at_most"),
        ('"zombies"', '"Zombies!"', "confirm", "no name of a fact"),
        ('"{value} entries"', '""', "confirm", "because"),
        ("{value} entries", "{value.__class__} {x} {", "confirm", "`because` of zombies may have {value}"),
        ("{value} entries", "{value!r}", "confirm", "no other braces"),
        ("{value} entries", "{value} {", "confirm", "no other braces"),
        ("restart {subject}", "restart {name} {subject}", "remedies", "{name} in a command is unknown"),
        ("restart {subject}", "restart {subject.name}", "remedies", "{subject.name} in a command is unknown"),
        ('for = ["unit"], ', "", "remedies", "needs `for`"),
        ('["unit"]', '["pod"]', "remedies", "list of"),
        ('risk = "gap", ', "", "remedies", "needs action"),
        ('cost = "c"', 'cost = "c", purges_existing = 1', "remedies", "true or false"),
        ('cost = "c"', 'cost = "c", below_kernel = "six"', "remedies", "a kernel's release, such as 6.6"),
        ('cost = "c"', 'cost = "c", below = "6.6"', "remedies", "below_kernel"),
        ('references = ["our wiki"]', "references = []", "references", "references is missing"),
        ("processes = 9, ", "", "storm", "processes, seconds_each, kernel must be there"),
        ("processes = 9", 'processes = "9"', "storm", "storm.processes must be a number"),
        ("kernel = 0.2", "kernel = 2", "storm", "storm.kernel must be above 0 and at most 1"),
        ("kernel = 0.2", 'kernel = 0.2, loading = ["a b"]', "storm", "no name of a function"),
        ("kernel = 0.2", "kernel = 0.2, much = 1", "storm", "storm is a table of"),
        ('functions = ["my_send"], ', "", "ordered_by", "functions must be there"),
        ('["my_send"]', "[]", "ordered_by", "ordered_by.functions is empty"),
        (', "softnet_processed_packets"]', "]", "ordered_by", "outside are two facts"),
        ("least_unknown = 0.3", "least = 0", "ordered_by", "ordered_by.least must be above 0"),
        ("least_unknown = 0.3", "own_cgroup = 1", "ordered_by", "true or false"),
        ('id = "my-rival"', 'id = "x"', "id", "small letters"),
        ('title = "our device is slow"\n', "", "[[rivals]]", "title is missing"),
        ('measure = "rise"', 'measure = "fall"', "measure", "'samples', 'modes', 'rise'"),
        ('measure = "rise"', "measure = [1]", "measure", "must be one of"),
        ('measure = "rise"', 'measure = "samples"', "[[rivals]]", "functions is missing: it is what samples measures"),
        ('measure = "rise"', 'measure = "modes"', "[[rivals]]", "modes is missing: it is what modes measures"),
        ('measure = "rise"', 'measure = "modes"\nmodes = ["nice"]', "modes", "list of user, system"),
        ('measure = "rise"', 'measure = "events"', "[[rivals]]", "facts is missing"),
        ('measure = "rise"', 'measure = "drop"\nleast_before = "1"', "least_before", "must be a number"),
        ('fact = "device_busy"', 'fact = "Device"', "fact", "must be the name of a fact"),
        ('fact = "device_busy"', 'fact = "device_busy"\nfacts = ["ok", "No"]', "facts", "must be the name of a fact"),
        ("busy for {percent}", "busy for {limit}", "says", "may have {value} and {percent}"),
        ("busy for {percent}", "busy for {", "says", "no other braces"),
        ('untested = "the device does not tell"', "untested = 3", "untested", "must be a text"),
        ("scale = 0.5", 'scale = "half"', "scale", "must be a number"),
        ("scale = 0.5", 'noticed_only = "no"', "noticed_only", "true or false"),
        ("scale = 0.5", 'own_work = ["a b"]', "own_work", "no name of a function"),
        ("scale = 0.5", "priority = 3", "priority", "'priority' is unknown"),
        ("cause = true", "cause = 1", "cause", "true or false"),
        ('"device_requests"', '"device requests"', "rate", "must be the name of a fact"),
    ],
)
def test_a_broken_file_is_a_warning_with_its_line(old: str, new: str, key: str, words: str) -> None:
    assert old in GOOD
    bad = GOOD.replace(old, new)
    lines = bad.splitlines()
    place = re.compile(re.escape(key) + (r"$" if key.startswith("[") else r"\s*="))
    wanted = [number for number, line in enumerate(lines, 1) if place.match(line)]
    if len(wanted) > 1:  # of both entries: the one that was changed
        wanted = [number for number in wanted if lines[number - 1] != GOOD.splitlines()[number - 1]]
    found = _with(bad=bad, good=MECHANISM.replace("my-walk", "other-walk"))
    (warning,) = found.warnings
    assert warning.where == f"bad.toml, line {wanted[0]}"
    assert words in warning.message
    assert "docs/mechanisms.md" in warning.hint
    assert found.of("other-walk") is not None
    assert found.of("my-walk") is None
    assert found.of("my-rival") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[mechanisms]\n", "is no TOML: .*line 1"),
        ("[mechanisms]\nid = 3\n", "two brackets"),
        ("[rivals]\nid = 3\n", "two brackets"),
        ("mechanism = 3\n", "'mechanism' is unknown"),
        (MECHANISM + MECHANISM, "twice"),
        (RIVAL + RIVAL, "twice"),
        ("stacks = 3\n", r"one table, \[stacks\]"),
        ("[stacks]\nsee_thru = []\n", r"one table, \[stacks\]"),
        ('[stacks]\nsee_through = ["a b"]\n', "no name of a function"),
        ('[stacks]\nsee_through = ["a_*"]\n', "no wildcards such as 'a_\\*'"),
        ("[stacks]\nmeasures = 3\n", "a table of facts"),
        ('[stacks.measures]\nMine = ["a"]\n', "name of a fact"),
        ('[stacks.measures]\nmine = "a"\n', "list of texts"),
        ("[stacks.measures]\nmine = []\n", "is empty"),
    ],
)
def test_what_is_no_catalogue_is_a_warning(text: str, words: str) -> None:
    found = _with(bad=text)
    (warning,) = found.warnings
    assert warning.where.startswith("bad.toml")
    assert re.search(words, warning.message, re.DOTALL)
    assert found.mechanisms == catalogue().mechanisms


def test_a_mechanism_that_nothing_could_show_is_a_warning() -> None:
    bad = MECHANISM.replace('functions = ["my_table_walk", "my_*_scan"]\n', "").replace("storm =", "# storm =")
    (warning,) = _with(bad=bad).warnings
    assert "my-walk: functions, leaves, storm or nameless must be there" in warning.message


def test_a_second_entry_is_found_by_its_own_line() -> None:
    text = MECHANISM + RIVAL + MECHANISM.replace("my-walk", "second-walk").replace("priority = 95", "priority = -1")
    (warning,) = _with(bad=text).warnings
    line = text.splitlines().index("priority = -1") + 1
    assert warning.where.endswith(f", line {line}")


def test_a_fault_in_ours_would_be_loud() -> None:
    with pytest.raises(Broken, match="priority"):
        load(GOOD.replace("95", "900"), "")
