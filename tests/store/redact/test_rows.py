"""Without names: nothing that identifies gets through, what explains stays, and the same is still the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.clock import NS
from necroscope.query.profile.profile import profile
from necroscope.query.select import Select
from necroscope.query.sql.engine import Engine
from necroscope.store.bundle.excerpt import LATER_NS, excerpt
from necroscope.store.format.tables import JOURNAL
from necroscope.store.read.reader import Store
from necroscope.store.redact.neutral_names import Names
from necroscope.store.redact.neutral_words import known_words, neutral_sentence
from necroscope.store.redact.rows import COLUMNS, FIELDS, KEPT, Redactor
from necroscope.vocabulary.event import Window, event_of
from stage.everything import JOB, SECONDS, fill, texts_in
from stage.recorded import START_NS

EVERYTHING: Window = (0, (1 << 63) - 1 - LATER_NS)
SECRETS = ("acme", "blue7", "10.20.30.40", "model-v7", "/srv", "docker", "kubepods", JOB, JOB[1:], "my thread", "libc")
KEY = bytes(32)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Store]:
    folder = tmp_path_factory.mktemp("redact")
    fill(folder / "store").close()
    excerpt(Store(folder / "store"), EVERYTHING, folder / "copy", Redactor())
    return Store(folder / "store"), Store(folder / "copy")


def test_no_name_gets_through(stores: tuple[Store, Store]) -> None:
    original, copy = texts_in(stores[0].folder), texts_in(stores[1].folder)
    for secret in SECRETS:
        assert any(secret in text for text in original), secret
        assert not any(secret.lower() in text.lower() for text in copy), secret
    data = b"".join(path.read_bytes() for path in stores[1].folder.rglob("*") if path.is_file())
    assert not any(secret.encode() in data for secret in SECRETS)
    words = {word for text in copy for word in re.split(r"[^\w.:-]+", text)}
    for name in ("worker", "agent", "main", "spin", "read", "worker.service"):
        assert name not in words


def test_what_explains_stays(stores: tuple[Store, Store]) -> None:
    texts = texts_in(stores[1].folder)
    frames = "".join(texts)
    for kept in ("mem_cgroup_iter\x1f[kernel]", "nft_do_chain\x1f[nf_tables]", "default_idle\x1f[kernel]"):
        assert kept in frames
    assert {"nic-reset", "soft-lockup", "cgroup-rmdir", "unit-start", "kmsg", "eth0", "exit-code", "tmpfs"} <= texts
    assert "ena 0000:20:03.0 eth0: TX queue 3 timed out" in texts
    assert any(
        re.fullmatch(r"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! \[name-\w+:3\]", text) for text in texts
    )
    assert '{"cpu":"1","mode":"idle"}' in texts
    assert '{"device":"eth0"}' in texts


def test_ids_that_are_made_from_names_are_made_anew(stores: tuple[Store, Store]) -> None:
    def ids(store: Store, question: str) -> set[str]:
        with Engine(store) as engine:
            return {str(value) for row in engine.ask(question).rows() for value in row.values()}

    for question in ("select stack_id from stacks", "select id from events"):
        before, after = ids(stores[0], question), ids(stores[1], question)
        if "events" in question:
            # Events of which nothing had to be changed are the same events.
            before = {
                str(event.id)
                for event in (event_of(row) for row in _rows(stores[0]))
                if "acme" in event.subject + event.text + event.kind or JOB in event.subject
            }
        else:
            kernel = "select stack_id from stacks where len(list_filter(modules, lambda one: one <> '[kernel]')) = 0"
            before -= ids(stores[0], kernel)
        assert before
        assert not before & after


def _rows(store: Store) -> list[dict[str, object]]:
    with Engine(store) as engine:
        return list(engine.ask("select at_ns, kind, source, subject, text, uncertainty_ns from events").rows())


def test_numbers_and_sums_are_the_same(stores: tuple[Store, Store]) -> None:
    questions = (
        "select at_ns, cpu, pid, tid, weight from samples order by all",
        "select len(frames) as depth, count(*) as n from samples join stacks using (stack_id) group by 1 order by 1",
        "select count(*) as n from samples group by comm order by n",
        "select count(*) as n from samples group by cgroup order by n",
        "select at_ns, name, value from signals order by all",
        "select at_ns, cpu, system, idle from cores order by all",
        "select at_ns, hierarchy, cgroup, removed_ns from cgroups order by all",
        "select at_ns, pid, user_s, rss_bytes from processes order by all",
    )
    with Engine(stores[0]) as one, Engine(stores[1]) as other:
        for question in questions:
            assert list(one.ask(question).rows()) == list(other.ask(question).rows()), question
    select = Select((START_NS, START_NS + SECONDS * NS))
    made = [profile(store, select) for store in stores]
    assert made[0].counts.weight.sum() == made[1].counts.weight.sum()
    assert made[0].core_seconds[0] == pytest.approx(made[1].core_seconds[0])


def test_a_unit_its_cgroup_and_its_events_still_belong_together(stores: tuple[Store, Store]) -> None:
    with Engine(stores[1]) as engine:
        units = list(engine.ask("select distinct name, control_group from units").rows())
        subjects = list(engine.ask("select distinct subject from events where kind = 'unit-start'").rows())
        restarts = "select distinct labels->>'unit' as unit from signals where name = 'systemd_unit_restarts'"
        labels = list(engine.ask(restarts).rows())
    (unit,) = units
    assert re.fullmatch(r"unit-\w{4,}\.service", unit["name"])
    assert unit["control_group"] == f"/system.slice/{unit['name']}"
    assert subjects == [{"subject": unit["name"]}]
    assert labels == [{"unit": unit["name"]}]


def test_two_bundles_have_nothing_in_common() -> None:
    texts = [f"acme{number}" for number in range(20)]
    assert not {Names(KEY).token("x", text) for text in texts} & {Names(b"other").token("x", text) for text in texts}
    assert [Names().token("x", text) for text in texts] != [Names().token("x", text) for text in texts]
    assert Names(KEY).token("process", "acme") == Names(KEY).token("process", "acme")


def test_every_text_column_is_decided_upon() -> None:
    """A column that is added must be said to be a name or none."""
    whole = {"stacks": {"frames"}, "events": {"kind", "source", "subject", *FIELDS}}
    for table in JOURNAL:
        texts = {column.name for column in table.columns if column.type in ("text", "word")}
        decided = set(COLUMNS.get(table.name, {})) | KEPT.get(table.name, set()) | whole.get(table.name, set())
        assert texts == decided, table.name


@given(st.lists(st.text(min_size=1), unique=True, max_size=300))
def test_different_names_stay_different(texts: list[str]) -> None:
    names = Names(KEY)
    assert len({names.token("x", text) for text in texts}) == len(texts)


@given(st.text())
def test_any_sentence_without_known_words_loses_all_its_letters(text: str) -> None:
    said = neutral_sentence(Names(KEY), f"qqzx{''.join(text.split())}qqzx")
    assert "qqzx" not in said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("started", "started"),
        ("3 more, 17 in all: exit-code, status 1, now failed (failed)", None),
        ("nothing was recorded from 2026-01-02T03:04:05.678Z to 2026-01-02T03:04:06Z (1.5 s)", None),
        ("hierarchy 4, cgroup 69212712, level 2, by pid 16791", None),
        ("kworker/0:1-cgroup_destroy blocked", "kworker/0:1-cgroup_destroy blocked"),
    ],
)
def test_sentences_of_our_own_stay(text: str, expected: str | None) -> None:
    assert neutral_sentence(Names(KEY), text) == (expected or text)


@pytest.mark.parametrize(
    "word",
    [
        "acme", "acme-agent.service", "/srv/acme/x", "10.0.0.1", "fe80::1", "00:11:22:33:44:55", "node7",
        "123456789012", "c6fd9b1a2c3d", "9d1c5f3e-0a1b-4c2d-8e3f-a1b2c3d4e5f6", "user@acme.example",
        "kernel-memory.service", "dog", "image:tag", "registry.example/a/b:1", "9acme", "enx001122334455", "eth0.acme",
    ],
)  # fmt: skip
def test_words_that_may_be_names_do_not_stay(word: str) -> None:
    assert word not in neutral_sentence(Names(KEY), f"failed for {word}, now")
    assert word not in known_words()


@pytest.mark.parametrize(
    ("name", "stays"),
    [
        ("swapper/3", True),
        ("kworker/u8:2-events_unbound", True),
        ("ksoftirqd/1", True),
        ("rcu_preempt", True),
        ("jbd2/nvme0n1p1-", True),
        ("kacme", False),
        ("jbd2/acme-8", False),
        ("python3", False),
    ],
)
def test_threads_of_the_kernel_keep_their_names(name: str, stays: bool) -> None:
    assert (Names(KEY).thread(name) == name) is stays


@pytest.mark.parametrize(
    ("name", "stays"),
    [
        ("cpu-clock", True),
        ("cycles:P", True),
        ("cpu_core/cycles/P", True),
        ("sched:sched_switch", True),
        ("probe_acme:settle", False),
        ("uprobe:/srv/acme", False),
        ("sdt_acme:x", False),
    ],
)
def test_events_of_perf(name: str, stays: bool) -> None:
    assert (Names(KEY).perf_event(name) == name) is stays


def test_paths_keep_their_shape() -> None:
    names = Names(KEY)
    whole, below = names.path("/kubepods/acme"), names.path("/kubepods/acme/x.scope")
    assert below.startswith(whole + "/")
    assert below.endswith(".scope")
    assert names.path("/system.slice") == "/system.slice"
    assert names.path("/") == "/"
    assert names.path("") == ""
