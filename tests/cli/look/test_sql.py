"""`necroscope sql` as users see it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import ParentCount
from stage.program import Program
from stage.recorded import LOOP, START_NS, second, stack

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    writer = Writer(folder, flush_s=1e9)
    for number in range(4):
        writer.add_samples(second(number))
    writer.add_events([Event(START_NS, "mark", "mark", "\x1b[31mred", "a\nb")])
    writer.add_zombies(START_NS, [ParentCount("/docker", 12)])
    writer.close()
    return folder


def test_rows_as_json_with_ids_as_text(necroscope: Program, store: Path) -> None:
    sql = "select stack_id, len(frames) as depth from stacks order by depth limit 1"
    ran = necroscope("sql", sql, "--store", store, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out) == [{"stack_id": str(stack(LOOP).stack_id), "depth": 2}]


def test_no_rows_are_an_empty_list(necroscope: Program, store: Path) -> None:
    assert json.loads(necroscope("sql", "select * from units", "--store", store, "--json").out) == []


def test_a_table_for_people(necroscope: Program, store: Path) -> None:
    ran = necroscope("sql", "select cpu, count(*) as samples from samples group by 1 order by 1", "--store", store)
    assert [line.split() for line in ran.out.splitlines()] == [["cpu", "samples"], ["0", "40"], ["1", "40"]]


def test_nothing_from_a_node_moves_the_cursor(necroscope: Program, store: Path) -> None:
    ran = necroscope("sql", 'select subject, text as "\x1b[1mx" from events', "--store", store)
    assert "\x1b" not in ran.out
    assert "\\x1b[31mred" in ran.out


def test_a_window(necroscope: Program, store: Path) -> None:
    sql = "select count(*) as n from samples"
    ran = necroscope("sql", sql, "--store", store, "--json", "--from", START_NS, "--to", START_NS + 10**9 - 1)
    assert json.loads(ran.out) == [{"n": 20}]


def test_many_rows_are_cut_for_people_and_whole_as_json(necroscope: Program, store: Path) -> None:
    sql = "select * from range(2500)"
    ran = necroscope("sql", sql, "--store", store)
    assert len(ran.out.splitlines()) == 1001
    assert "and more than these 1,000 rows" in ran.err
    assert necroscope("sql", "select * from range(1000)", "--store", store).err == ""
    assert len(json.loads(necroscope("sql", sql, "--store", store, "--json").out)) == 2500


def test_the_rest_of_an_endless_answer_is_not_computed(necroscope: Program, store: Path) -> None:
    ran = necroscope("sql", "select * from range(1000000000000)", "--store", store)
    assert (ran.code, len(ran.out.splitlines())) == (0, 1001)


def test_where_the_store_is_told_by_the_environment(necroscope: Program, store: Path) -> None:
    ran = necroscope("sql", "select count(*) as n from zombies", "--json", env={"NECROSCOPE_STORE": str(store)})
    assert json.loads(ran.out) == [{"n": 1}]


def test_a_window_that_ends_before_it_begins(necroscope: Program, store: Path) -> None:
    ran = necroscope("sql", "select 1", "--store", store, "--from", "-1m", "--to", "-2m")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "necroscope: The window ends before it begins.\n  hint: look at --from and --to\n"


def test_errors_of_several_lines_are_one(necroscope: Program, store: Path) -> None:
    ran = necroscope("sql", "select nothing\nfrom samples", "--store", store)
    assert ran.code == 2
    assert "\\x0a" not in ran.err
    assert len(ran.err.splitlines()) == 2


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("select * from read_text('/etc/passwd')", "cannot use read_text()"),
        ("copy samples to '/tmp/x'", "Only one SELECT is answered"),
        ("select nothing from samples", "cannot be answered"),
        ("selec", "cannot be answered"),
    ],
)
def test_what_cannot_be_answered_is_bad_input(necroscope: Program, store: Path, sql: str, words: str) -> None:
    ran = necroscope("sql", sql, "--store", store)
    assert ran.code == 2
    assert words in ran.err
    assert "hint: " in ran.err


def test_what_is_no_store_is_bad_input(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("sql", "select 1", "--store", tmp_path)
    assert ran.code == 2
    assert "is no store" in ran.err
    (tmp_path / "format.json").write_text('{"store": "necroscope", "version": 7}')
    ran = necroscope("sql", "select 1", "--store", tmp_path)
    assert ran.code == 2
    assert "format version 7" in ran.err
    assert "use a newer necroscope" in ran.err


# -- bounds -----------------------------------------------------------------------------------------------

FOREVER = "select count(*) as n from range(1000000000) a, range(1000000) b where a.range * b.range % 7 = 3"
GREEDY = (
    "select list(i) as l from range(2000000000) t(i)",
    "select len(string_agg(repeat(i::varchar, 50), ',')) from range(400000000) t(i)",
    "select repeat('x', 4000000000) as l",
    "select i, list(repeat(i::varchar, 100)) from range(200000000) t(i) group by i",
)


def test_a_query_has_an_end(necroscope: Program, store: Path) -> None:
    ran = necroscope("sql", FOREVER, "--store", store, "--timeout", "2s", timeout_s=30)
    assert (ran.code, ran.out) == (3, "")
    assert "took longer than 2.0 s and was stopped" in ran.err
    assert "--timeout 10m" in ran.err


@pytest.mark.parametrize("query", GREEDY)
def test_memory_has_an_end_whatever_a_query_does(store: Path, query: str) -> None:
    command = [sys.executable, "-m", "necroscope", "sql", query, "--store", str(store), "--timeout", "60s"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as asked:
        assert asked.stderr is not None
        said = asked.stderr.read()
        _, status, used = os.wait4(asked.pid, 0)
        asked.returncode = os.waitstatus_to_exitcode(status)
    assert asked.returncode in (2, 3), said
    assert "Traceback" not in said
    assert "memory" in said.lower() or "cannot be answered" in said
    assert used.ru_maxrss < 2_000_000, "KiB"


def test_ctrl_c_ends_a_query_and_its_process(store: Path) -> None:
    command = [sys.executable, "-m", "necroscope", "sql", FOREVER, "--store", str(store)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as asked:
        time.sleep(2.0)
        children = Path(f"/proc/{asked.pid}/task/{asked.pid}/children").read_text().split()
        asked.send_signal(signal.SIGINT)
        assert asked.wait(10) == 130
    assert children
    assert not any(Path(f"/proc/{child}").exists() for child in children)


def test_the_process_of_a_query_ends_with_its_parent(store: Path) -> None:
    command = [sys.executable, "-m", "necroscope", "sql", FOREVER, "--store", str(store)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as asked:
        time.sleep(2.0)
        (child,) = Path(f"/proc/{asked.pid}/task/{asked.pid}/children").read_text().split()
        asked.kill()
    deadline = time.monotonic() + 10
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(child)


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
