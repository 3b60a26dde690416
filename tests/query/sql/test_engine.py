"""SQL over a store: the views are right, sealed or not, and a query can reach nothing but them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from necroscope.clock import NS
from necroscope.errors import BadInput
from necroscope.query.sql.engine import Engine
from necroscope.query.sql.views import VIEWS
from necroscope.sense.cpu.times import Cpu
from necroscope.sense.perf.modules import NOT_KERNEL, in_kernel
from necroscope.store.read.reader import Store
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Event
from necroscope.vocabulary.model import Census, HostIdentity, ParentCount, ProcessUse, Sample, UnitState, ZombieName
from stage.looked import One, batch
from stage.recorded import LOOP, START_NS, SYSCALL, WALK, look, second, stack

SECONDS = 8
Ask = Callable[..., list[dict[str, Any]]]


def fill(folder: Path, sealing: str) -> Writer:
    writer = Writer(folder, flush_s=1e9, segment_s=1e9, signals=Cpu.signals)
    for number in range(SECONDS):
        at_ns = START_NS + number * NS
        writer.add_samples(second(number, tell=number == 0))
        writer.add_signals(at_ns, look(number), "cpu")
        writer.add_events([Event(at_ns, "nic-reset" if number == 5 else "tick", "kmsg", "eth0", f"line {number}")])
        writer.add_zombies(at_ns, [ParentCount("/docker", 10 * number)])
        writer.add_units(at_ns, [UnitState("a.service", "failed", "failed", "exit-code", number, exit_status=1)])
        if sealing == "every second" or (sealing == "half" and number == 3):
            writer.seal()
        writer.flush()
    if sealing == "all":
        writer.seal()
    return writer


@pytest.fixture(params=["all", "none", "half", "every second"], scope="module")
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The same rows sealed, in the journal, half and half, and merged."""
    folder = tmp_path_factory.mktemp("store")
    writer = fill(folder, request.param)
    yield folder
    writer.close()


@pytest.fixture
def ask(store: Path) -> Iterator[Ask]:
    with Engine(Store(store)) as engine:
        yield lambda sql: engine.ask(sql).rows()


def test_views_have_the_documented_columns(ask: Ask) -> None:
    for view in VIEWS:
        described = [row["column_name"] for row in ask(f"describe {view.name}")]
        assert described == [name for name, _ in view.columns], view.name


def test_samples(ask: Ask) -> None:
    rows = ask("select * from samples order by at_ns limit 3")
    assert rows[1] == {
        "at": "2026-01-02T03:04:05.050000000Z",
        "at_ns": START_NS + NS // 20,
        "cpu": 1,
        "pid": 101,
        "tid": 102,
        "comm": "worker",
        "cgroup": "/system.slice/worker.service",
        "event": "cpu-clock",
        "weight": 10_309_278,
        "stack_id": str(stack(LOOP).stack_id),
    }
    assert ask("select count(*) as n, count(distinct at_ns) as d, count(stack_id) as s from samples") == [
        {"n": 160, "d": 160, "s": 160}
    ]


def test_stacks_once_each_with_frames_and_modules(ask: Ask) -> None:
    rows = ask("select * from stacks order by len(frames)")
    assert rows[0] == {
        "stack_id": str(stack(LOOP).stack_id),
        "frames": ["main", "spin"],
        "modules": ["worker", "worker"],
    }
    assert [len(row["frames"]) for row in rows] == [2, 3, 4]
    assert rows[2]["modules"] == ["worker", "libc.so.6", "[kernel]", "[kernel]"]
    (joined,) = ask(
        "select count(*) as n from samples join stacks using (stack_id) where frames[-1] = 'mem_cgroup_iter'"
    )
    counted = sum(second(number).stack_id.tolist().count(stack(WALK).stack_id) for number in range(SECONDS))
    assert joined["n"] == counted == 48


def test_seconds_are_the_sums_of_samples(ask: Ask) -> None:
    sums = "sum(samples)::bigint as n, sum(weight)::bigint as w from seconds group by 1, 2 order by 1, 2"
    raw = (
        "select at_ns // 1000000000 * 1000000000 as at_ns, cpu, count(*) as n, sum(weight)::bigint as w "
        "from samples group by 1, 2 order by 1, 2"
    )
    assert ask(f"select at_ns, cpu, {sums}") == ask(raw)
    kernel = {stack(SYSCALL).stack_id, stack(WALK).stack_id}
    expected = sum(one in kernel for number in range(SECONDS) for one in second(number).stack_id.tolist())
    assert ask("select sum(kernel)::bigint as k from seconds") == [{"k": expected}]


@pytest.mark.parametrize("sealed", [True, False])
def test_the_kernels_share_of_a_second_is_of_what_is_the_kernel_everywhere_else(tmp_path: Path, sealed: bool) -> None:
    modules = ("[kernel]", "[nf_tables]", "[bpf]", *sorted(NOT_KERNEL), "[a b]", "[", "./[kernel]", "libc.so.6", "")
    writer = Writer(tmp_path, flush_s=1e9, segment_s=1e9)
    writer.add_samples(batch([One(START_NS + n * NS, (("f", one),)) for n, one in enumerate(modules)]))
    if sealed:
        writer.seal()
    writer.flush()
    with Engine(Store(tmp_path)) as engine:
        rows = engine.ask("select at_ns, kernel from seconds order by at_ns").rows()
    writer.close()
    assert [row["kernel"] for row in rows] == [int(in_kernel(one)) for one in modules]


def test_every_signal_has_a_value_at_every_look(ask: Ask) -> None:
    rows = ask("select at_ns, name, labels, value from signals")
    got = sorted((row["at_ns"], row["name"], row["labels"], row["value"]) for row in rows)
    names = {signal.name: signal.labels for signal in Cpu.signals}
    expected = sorted(
        (START_NS + number * NS, sample.signal, labels(names.get(sample.signal, ()), sample), sample.value)
        for number in range(SECONDS)
        for sample in look(number)
    )
    assert got == expected


def labels(names: tuple[str, ...], sample: Sample) -> str:
    return "{" + ",".join(f'"{name}":"{value}"' for name, value in zip(names, sample.labels, strict=True)) + "}"


def test_cores_are_shares_of_each_second(ask: Ask) -> None:
    rows = ask("select * from cores order by at_ns, cpu")
    assert [(row["at_ns"], row["cpu"]) for row in rows] == [
        (START_NS + number * NS, cpu) for number in range(1, SECONDS) for cpu in (0, 1)
    ]
    for row in rows:
        shares = (row["user"], row["system"], row["softirq"], row["idle"])
        assert shares == pytest.approx((0.31, 0.11, 0.02, 0.56), abs=1e-9)
        assert (row["irq"], row["steal"]) == (None, None), "what the kernel does not tell is unknown, not zero"


def test_events_zombies_units(ask: Ask) -> None:
    (event,) = ask("select * from events where kind = 'nic-reset'")
    assert event["id"] == str(Event(START_NS + 5 * NS, "nic-reset", "kmsg", "eth0", "line 5").id)
    assert event["at"] == "2026-01-02T03:04:10.000000000Z"
    assert ask("select max(zombies) as z, count(*) as n from zombies where parent = '/docker'") == [{"z": 70, "n": 8}]
    (unit,) = ask("select * from units order by at_ns desc limit 1")
    assert (unit["name"], unit["restarts"], unit["exit_status"], unit["since_start_s"]) == ("a.service", 7, 1, None)


def test_a_window_shows_its_rows_only(store: Path) -> None:
    window = (START_NS + 3 * NS, START_NS + 5 * NS - 1)
    with Engine(Store(store), window) as engine:
        assert engine.ask("select count(*) as n from samples").rows() == [{"n": 40}]
        assert engine.ask("select count(distinct at_ns) as n from signals").rows() == [{"n": 2}]
        assert engine.ask("select text from events order by 1").rows() == [{"text": "line 3"}, {"text": "line 4"}]
        seconds = engine.ask("select distinct at_ns from seconds order by 1").rows()
        assert [row["at_ns"] for row in seconds] == [window[0], window[0] + NS]


def test_the_leak_in_one_query(ask: Ask) -> None:
    rows = ask(
        "select u.restarts, z.zombies from units u asof join zombies z on u.at_ns >= z.at_ns "
        "order by u.at_ns desc limit 1"
    )
    assert rows == [{"restarts": 7, "zombies": 70}]


# -- cores in hard times ---------------------------------------------------------------------------------


def cores(folder: Path, looks: list[tuple[int, float, float]]) -> list[dict[str, Any]]:
    """Shares from looks at (second, user seconds, idle seconds)."""
    writer = Writer(folder, flush_s=1e9, signals=Cpu.signals)
    for at_s, user, idle in looks:
        samples = [Sample("cpu_time_seconds", user, ("0", "user")), Sample("cpu_time_seconds", idle, ("0", "idle"))]
        writer.add_signals(START_NS + at_s * NS, samples)
        writer.seal()
    writer.close()
    with Engine(Store(folder)) as engine:
        return engine.ask('select (at_ns - 1767323045000000000) // 1000000000 as s, "user", idle from cores').rows()


def test_after_a_pause_or_a_reboot_nothing_is_said_about_the_second_before(tmp_path: Path) -> None:
    rows = cores(tmp_path, [(0, 10.0, 5.0), (1, 10.5, 5.5), (61, 20.0, 8.0), (62, 21.0, 8.0), (63, 1.0, 1.0)])
    assert rows == [{"s": 1, "user": 0.5, "idle": 0.5}, {"s": 62, "user": 1.0, "idle": 0.0}]


def test_idle_time_that_steps_back_a_little_is_none(tmp_path: Path) -> None:
    assert cores(tmp_path, [(0, 10.0, 5.0), (1, 11.0, 4.99)]) == [{"s": 1, "user": 1.0, "idle": 0.0}]


# -- what a query cannot do --------------------------------------------------------------------------------

FORBIDDEN = [
    "copy (select 1) to '{out}'",
    "copy (select 1) to '{out}' (use_tmp_file false)",
    "copy samples from '{secret}'",
    "explain analyze copy (select 1) to '{out}' (use_tmp_file false)",
    "EXPLAIN ANALYZE COPY (select 1) to '{out}'",
    "/* x */ explain analyze copy (select 1) to '{out}'",
    "attach '{out}'",
    "export database '{out}'",
    "import database '{out}'",
    "install httpfs",
    "load httpfs",
    "force install spatial",
    "set enable_external_access = true",
    "set lock_configuration = false",
    "set memory_limit = '1TB'",
    "reset memory_limit",
    "set variable x = 1",
    "pragma enable_profiling",
    "pragma profiling_output = '{out}'",
    "call pragma_version()",
    "checkpoint",
    "create table x as select 1",
    "create or replace view samples as select 1",
    "drop view samples",
    "insert into samples select * from samples",
    "create secret s (type s3)",
    "prepare x as select 1",
    "use memory",
    "begin",
    "vacuum",
    "select 1; select 2",
    "",
    "not sql",
    "select '\udc80'",
]
OUT_OF_REACH = [
    "select * from read_text('{secret}')",
    "select * from read_blob('{secret}')",
    "select * from read_csv('{secret}')",
    "select * from read_json('{secret}')",
    "select * from read_parquet('{secret}')",
    "select * from read_parquet('{folder}/*')",
    "select * from '{secret}'",
    "select * from glob('{folder}/*')",
    "select * from sniff_csv('{secret}')",
    "select * from parquet_metadata('{secret}')",
    "select * from read_csv('https://example.invalid/x.csv')",
    "select * from query('copy (select 1) to ''{out}''')",
    "select * from duckdb_secrets()",
    "select getenv('HOME')",
    "with x as (select * from read_text('{secret}')) select * from x",
    "select * from secret_table",
    "select * from query('select 1')",
    "select * from json_execute_serialized_sql(json_serialize_sql('select 1'))",
    "select * from enable_logging(storage = 'file', storage_path = '{out}')",
    "select * from checkpoint()",
    "select (select max(file) from glob('{folder}/*'))",
    "select * from samples where comm in (select content from READ_TEXT('{secret}'))",
    "explain analyze select * from read_text('{secret}')",
]


@pytest.fixture(scope="module")
def one_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("store")
    writer = fill(folder, "half")
    yield folder
    writer.close()


def refused(engine: Engine, sql: str, folder: Path) -> str:
    secret, out = folder / "secret", folder / "out"
    secret.write_text("hunter2")
    with pytest.raises(BadInput) as error:
        engine.ask(sql.format(secret=secret, out=out, folder=folder)).rows()
    assert not out.exists()
    assert "hunter2" not in error.value.message
    return error.value.message


@pytest.mark.parametrize("sql", FORBIDDEN)
def test_only_one_select_is_answered(one_store: Path, tmp_path: Path, sql: str) -> None:
    with Engine(Store(one_store)) as engine:
        refused(engine, sql, tmp_path)
        assert engine.ask("select count(*) as n from samples").rows() == [{"n": 160}]


@pytest.mark.parametrize("sql", OUT_OF_REACH)
def test_a_select_reaches_no_file_network_or_variable(one_store: Path, tmp_path: Path, sql: str) -> None:
    secret_table = [1]
    with Engine(Store(one_store)) as engine:
        refused(engine, sql, tmp_path)
    assert secret_table == [1]


@pytest.mark.parametrize(
    "sql",
    [
        one
        for one in FORBIDDEN
        if "{out}" in one or one.startswith(("set enable", "set lock", "set mem", "install", "load"))
    ],
)
def test_the_lock_holds_even_without_the_check(one_store: Path, tmp_path: Path, sql: str) -> None:
    """The second fence: what the statement check refuses does no harm either."""
    out = tmp_path / "out"
    with Engine(Store(one_store)) as engine, pytest.raises(duckdb.Error):
        engine._connection.execute(sql.format(out=out, secret=out)).fetchall()
    assert not out.exists()


def test_sealed_files_cannot_be_overwritten(tmp_path: Path) -> None:
    fill(tmp_path, "all").close()
    (path,) = tmp_path.glob("segments/*/events.parquet")
    before = path.read_bytes()
    with Engine(Store(tmp_path)) as engine:
        for option in ("", " (use_tmp_file false)", " (format csv)"):
            with pytest.raises(BadInput):
                engine.ask(f"copy (select 1) to '{path}'{option}")
            with pytest.raises(BadInput):
                engine.ask(f"explain analyze copy (select 1) to '{path}'{option}")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "sql",
    [
        "explain analyze select 1",
        "describe samples",
        "show tables",
        "summarize events",
        "from samples limit 1",
        "values (1)",
        "select now() as n",
        "select * from (select cpu, comm from samples) pivot (count(*) for cpu in (0, 1))",
        "select unnest(frames) as f, count(*) from stacks group by 1",
        "select * from range(3)",
        "with recursive t(n) as (select 1 union all select n + 1 from t where n < 3) select * from t",
    ],
)
def test_what_only_reads_is_answered(ask: Ask, sql: str) -> None:
    assert ask(sql)


def test_a_query_too_deep_to_look_at_is_refused(ask: Ask) -> None:
    with pytest.raises(BadInput):
        ask("select " + "(" * 5000 + "1" + ")" * 5000)
    with pytest.raises(BadInput):
        ask("select " + " + ".join(["1"] * 20_000))


def test_a_wrong_query_is_told_in_one_sentence(ask: Ask) -> None:
    with pytest.raises(BadInput, match=r"cannot be answered: .*comn") as error:
        ask("select comn from samples")
    assert "samples, stacks" in error.value.hint


# -- a store that changes --------------------------------------------------------------------------------


def test_an_empty_store_answers(tmp_path: Path) -> None:
    Writer(tmp_path).close()
    with Engine(Store(tmp_path)) as engine:
        for view in VIEWS:
            assert engine.ask(f"select * from {view.name}").rows() == []


def test_a_segment_that_goes_away_is_no_error(tmp_path: Path) -> None:
    fill(tmp_path, "half").close()
    (one,) = (tmp_path / "segments").iterdir()
    with Engine(Store(tmp_path)) as engine:
        shutil.rmtree(one)
        assert engine.ask("select count(*) as n from samples").rows() == [{"n": 0}]


@pytest.mark.parametrize("damage", [b"PAR1" + bytes(100) + b"PAR1", b"", b"PAR1"])
def test_a_damaged_file_is_left_out_with_a_note(tmp_path: Path, damage: bytes) -> None:
    writer = Writer(tmp_path, flush_s=1e9)
    for number in range(3):
        writer.add_samples(second(number * 3600))
        writer.seal()
    writer.close()
    for number, path in enumerate(sorted(tmp_path.glob("segments/*/samples.parquet"))):
        if number != 2:
            path.write_bytes(damage)
    with Engine(Store(tmp_path)) as engine:
        assert engine.ask("select count(*) as n from samples").rows() == [{"n": 20}]
        assert len(engine.notes) == 2
        assert engine.notes[0].endswith("samples.parquet is damaged and left out")


def test_names_with_quotes(tmp_path: Path) -> None:
    folder = tmp_path / "it's"
    fill(folder, "all").close()
    with Engine(Store(folder)) as engine:
        assert engine.ask("select count(*) as n from samples").rows() == [{"n": 160}]


# -- what happened to cgroups, units and processes ---------------------------------------------------------


def _life(at_s: float, kind: str, cgroup: int, hierarchy: int = 4, path: str = "/docker/a") -> Event:
    at_ns = START_NS + int(at_s * NS)
    return Event(at_ns, f"cgroup-{kind}", "perf", path, pid=77, task="runc", cgroup=cgroup, hierarchy=hierarchy)


@pytest.mark.parametrize("sealed", [True, False])
def test_lives_of_cgroups_are_told_apart_by_hierarchy_id_and_birth(tmp_path: Path, sealed: bool) -> None:
    lives = [
        *(_life(1, "mkdir", 50), _life(2, "rmdir", 50), _life(3, "release", 50)),
        # the same path and another id leaks; the same id in another hierarchy does not
        *(_life(4, "mkdir", 51), _life(5, "rmdir", 51)),
        *(_life(4, "mkdir", 51, 7), _life(5, "rmdir", 51, 7), _life(6, "release", 51, 7)),
        # an old kernel uses the first id again
        *(_life(8, "mkdir", 50), _life(9, "rmdir", 50)),
        # one that was there before
        *(_life(9, "rmdir", 12, path="/old"), _life(9, "release", 12, path="/old")),
    ]
    writer = Writer(tmp_path, flush_s=1e9)
    writer.add_events([*lives, Event(START_NS, "mark", "mark", "", "hierarchy 4, cgroup 99")])
    writer.seal() if sealed else writer.flush()
    with Engine(Store(tmp_path)) as engine:
        rows = engine.ask("select * from cgroups order by hierarchy, cgroup, at_ns").rows()
    writer.close()
    short = [
        tuple(
            None if row[name] is None else (row[name] - START_NS) // NS
            for name in ("made_ns", "removed_ns", "released_ns")
        )
        for row in rows
    ]
    assert [(row["hierarchy"], row["cgroup"], row["path"]) for row in rows] == [
        (4, 12, "/old"),
        (4, 50, "/docker/a"),
        (4, 50, "/docker/a"),
        (4, 51, "/docker/a"),
        (7, 51, "/docker/a"),
    ]
    assert short == [(None, 9, 9), (1, 2, 3), (8, 9, None), (4, 5, None), (4, 5, 6)]
    assert [(row["at_ns"] - START_NS) // NS for row in rows] == [9, 1, 8, 4, 4]


@pytest.mark.parametrize("sealed", [True, False])
def test_records_of_a_look_come_back_from_their_views(tmp_path: Path, sealed: bool) -> None:
    writer = Writer(tmp_path, flush_s=1e9)
    census = Census("v1", 9, 2, 7, "kernel-walk", by_parent=(ParentCount("/docker", 7),))
    unit = UnitState("a.service", "active", "running", "success", 3, starts=4, successes=1, failures=2)
    busy = ProcessUse(4711, 86053, "worker", "/a", 1.25, 0.5, 0.125, 300 << 20, 3)
    odd = ProcessUse(4712, 86054, "w\udc80", "", 0.0, 0.01, None, 0, -1)
    zombie = ZombieName("/docker/ab", "/docker/<id>", 4711, 12.34, 65536, "tmpfs")
    nobody = ZombieName("/x", "/x", (1 << 63) - 1, None, 0)
    writer.add_records(START_NS, (census, unit, busy, odd, zombie, nobody, HostIdentity("n", "6", "b", 2)))
    writer.add_records(START_NS, ())
    writer.seal() if sealed else writer.flush()
    with Engine(Store(tmp_path)) as engine:
        processes = engine.ask("select * exclude (at, at_ns) from processes order by pid").rows()
        zombies = engine.ask("select * exclude (at, at_ns) from zombie_names order by path").rows()
        assert engine.ask("select parent, zombies from zombies").rows() == [{"parent": "/docker", "zombies": 7}]
        counts = engine.ask("select restarts, starts, successes, failures from units").rows()
    writer.close()
    assert [tuple(row.values()) for row in processes] == [
        (4711, 86053, "worker", "/a", 1.25, 0.5, 0.125, 300 << 20, 3),
        (4712, 86054, "w\\x80", "", 0.0, 0.01, None, 0, -1),
    ]
    assert [tuple(row.values()) for row in zombies] == [
        ("/docker/ab", "/docker/<id>", 4711, 12.3, 65536, "tmpfs"),
        ("/x", "/x", (1 << 63) - 1, None, 0, ""),
    ]
    assert [tuple(row.values()) for row in counts] == [(3, 4, 1, 2)]
