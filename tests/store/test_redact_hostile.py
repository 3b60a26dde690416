"""Whatever somebody calls a thing, also as kernels call theirs: nothing of it is in a redacted bundle."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from necroscope.query.sql.engine import Engine
from necroscope.store.bundle.archive import pack, unpack
from necroscope.store.bundle.excerpt import LATER_NS, excerpt
from necroscope.store.bundle.recording import entries
from necroscope.store.read.reader import Store
from necroscope.store.redact import kernel_words
from necroscope.store.redact.kernel_tasks import entry
from necroscope.store.redact.neutral_names import Names
from necroscope.store.redact.neutral_words import neutral_sentence
from necroscope.store.redact.rows import Redactor
from necroscope.store.write.writer import Writer
from necroscope.vocabulary.event import Window
from necroscope.vocabulary.model import ProcessUse
from stage.everything import texts_in
from stage.hostile import IN_KERNEL, fill
from stage.looked import Frames, One, batch
from stage.recorded import START_NS

EVERYTHING: Window = (0, (1 << 63) - 1 - LATER_NS)
_SHAPES = """
{} kworker/{} kworker/0:1-{} kworker/u8:2+{} kworker/R-{} rcu_{} rcu{}/0 ksoftirqd/{} kswapd{} jbd2/{}-8
jbd2/nvme0n1p1-{} jbd2/md{} irq/5-{} irq/5-ena-{} irq/5-eth0-{} swapper/{} :{} md0_{} eth0.{} eth0-{} nvme0n1-{}
ena_{} ena-{}@pci:0000:00:05.0 virtio{} tty{} mlx5_{} 0000:00:{}.0 /proc/{} /proc/sys/kernel/{} /sys/{} /dev/{}
{}:123 kworker/0:1-{}:77 watchdog:%{} CPU#{} {}! mem_cgroup_{} do_{}+0x12/0x30 bpf_prog_6deef7357e7b4530_{}
bpf_prog_{} bpf_trampoline_{} __x64_sys_{} sched:{} cycles:{} cpu/{}/ cpu/event={}/ cpu/name={}/ r{} probe_{}:x
{}/freq=97/ {}.service {}.slice system.slice/{} init.scope/{} /system.slice/{}.service -.slice{} <id>{} <n>/{} [{}]
({}) <{}> {}%{} \x1b[31m{} a$1f{} a$1e{} \u202e{} {}'s 0x{} 1.5{} 12:30:{} {}ms
"""
SHAPES = tuple(_SHAPES.split())


def _named(shape: str, secret: str) -> str:
    return shape.replace("$1f", "\x1f").replace("$1e", "\x1e").replace("%", "\n").replace("{}", secret)


def _bundle(tmp_path: Path, names: list[str]) -> tuple[Path, Path]:
    """A redacted bundle of such a recording, and the folder with what is in it."""
    fill(tmp_path / "store", names)
    redactor = Redactor()
    made = excerpt(Store(tmp_path / "store"), EVERYTHING, tmp_path / "copy", redactor)
    file = tmp_path / "redacted.ncb"
    pack(entries(made, EVERYTHING, redactor), file)
    unpack(file, tmp_path / "unpacked")
    return file, tmp_path / "unpacked"


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(secret=st.from_regex(r"q[bcdfghjklmnpqrstvwxz]{4,6}", fullmatch=True))
def test_a_secret_in_any_place_and_shape_is_gone(tmp_path_factory: pytest.TempPathFactory, secret: str) -> None:
    folder = tmp_path_factory.mktemp("secret")
    file, unpacked = _bundle(folder, [_named(shape, secret) for shape in SHAPES])
    assert sum(secret in text for text in texts_in(folder / "store")) > 500
    texts = texts_in(unpacked / "necroscope" / "store")
    assert [text for text in texts if secret in text.lower()] == []
    with tarfile.open(file) as members:
        for member in members:
            content = members.extractfile(member)
            assert content is not None
            assert secret not in member.name
            assert secret.encode() not in content.read()


@settings(max_examples=500, deadline=None)
@given(
    before=st.sampled_from(SHAPES),
    secret=st.from_regex(r"q[bcdfghjklmnpqrstvwxz]{4,6}", fullmatch=True),
    around=st.text("/:-_.[]+0123456789 \x1f\x1e@#", max_size=4),
)
def test_a_secret_between_anything_is_gone(before: str, secret: str, around: str) -> None:
    names, name = Names(), _named(before, around + secret + around[::-1])
    for change in (
        names.process,
        names.thread,
        names.unit,
        names.path,
        names.device,
        names.interrupt,
        names.perf_event,
    ):
        assert secret not in change(name)
    assert secret not in neutral_sentence(names, name)
    assert secret not in names.frame(name, "[bpf]")[0]
    assert secret not in "".join(names.frame(name, name.lstrip("[")))


LIKE_THE_KERNELS = (
    "kworker/0:1-events",
    "ksoftirqd/1",
    "rcu_preempt",
    "jbd2/sda1-8",
    "swapper/0",
    "mem_cgroup_iter",
    "[kernel]",
)


def test_a_process_that_is_called_like_the_kernels_is_a_process(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "store", flush_s=1e9, segment_s=1e9)
    own: Frames = (("main", "a.out"), ("mem_cgroup_iter", "a.out"))
    for number, name in enumerate(LIKE_THE_KERNELS):
        two = (
            One(START_NS, own, pid=10 + number, comm=name, cgroup="/"),
            One(START_NS + 1, IN_KERNEL, pid=10 + number, comm=name, cgroup="/"),
        )
        caged = One(START_NS, IN_KERNEL, pid=40 + number, comm=name, cgroup="/user.slice")
        writer.add_samples(batch([*two, caged, One(START_NS, IN_KERNEL, pid=70 + number, comm=name, cgroup="/")]))
        used = ProcessUse(10 + number, 1, name, "/", 0.5, 0.5, None, 4096, 0)
        writer.add_records(START_NS, [used, replace(used, pid=70 + number, user_s=0.0, rss_bytes=0)])
    writer.close()
    excerpt(Store(tmp_path / "store"), EVERYTHING, tmp_path / "copy", Redactor())
    with Engine(Store(tmp_path / "copy")) as engine:
        for table in ("samples", "processes"):
            rows = list(engine.ask(f"select distinct pid, comm from {table} where pid < 70").rows())
            assert rows
            assert all(row["comm"].startswith("process-") for row in rows), rows
            kept = {
                row["pid"]: row["comm"]
                for row in engine.ask(f"select distinct pid, comm from {table} where pid >= 70").rows()
            }
            assert [kept[70 + number] for number in range(5)] == list(LIKE_THE_KERNELS[:5])
            assert all(kept[70 + number].startswith("process-") for number in (5, 6))
        names = {name for row in engine.ask("select frames from stacks").rows() for name in row["frames"]}
    assert "worker_thread" in names
    assert "mem_cgroup_iter" not in names


def test_the_kernels_part_of_a_stack_is_its_inner_end() -> None:
    frames = ["a\x1f[kernel]", "b\x1fprog", "c\x1f[unknown]", "d\x1f[kernel]", "e\x1f[cut]", "f\x1f[nf_tables]"]
    assert entry(frames) == 2
    assert entry(frames[2:]) == 0
    assert entry(["a\x1f"]) == 1
    assert entry([]) == 0


@pytest.mark.parametrize(
    ("question", "name", "yes"),
    [
        ("kernel_thread", "kworker/u128:3-events_unbound", True),
        ("kernel_thread", "kworker/u64:2-e", True),
        ("kernel_thread", "kworker/0:2-e", False),
        ("kernel_thread", "kworker/0:0H-kblockd", True),
        ("kernel_thread", "kworker/R-rcu_gp", True),
        ("kernel_thread", "kworker/u8:0-flush-259:0", True),
        ("kernel_thread", "kworker/u8:0-xfs-conv/dm-0", True),
        ("kernel_thread", "kworker/u8:0-xfs-conv/acme", False),
        ("kernel_thread", "rcu_tasks_kthre", True),
        ("kernel_thread", "jbd2/nvme0n1p1-", True),
        ("kernel_thread", "scsi_eh_0", True),
        ("kernel_thread", "ksoftirqd/12345", False),
        ("kernel_thread", "kworkerd", False),
        ("interrupt", "ena-mgmnt@pci:0000:00:05.0", True),
        ("interrupt", "mlx5_comp12@pci:0000:3b:00.0", True),
        ("interrupt", "enp59s0f0np0-TxRx-3", True),
        ("interrupt", "ahci[0000:00:17.0]", True),
        ("interrupt", "acme0-TxRx-0", False),
        ("interrupt", "eth0-acme", False),
        ("perf_event", "cpu-clock/freq=97/", True),
        ("perf_event", "cpu_core/cycles/P", True),
        ("perf_event", "cpu/event=0x3c,umask=0x0/u", True),
        ("perf_event", "cycles:ppp", True),
        ("perf_event", "cpu/event=0x3c,name=acme/", False),
        ("perf_event", "sched:acme", False),
        ("device", "enp59s0f0np0", True),
        ("device", "nvme12n1p3", True),
        ("device", "eth0.acme", False),
        ("device", "enx001122334455", False),
        ("kernel_file", "/proc/sys/kernel/hung_task_timeout_secs", True),
        ("kernel_file", "/proc/acme", False),
        ("kernel_file", "proc/stat", False),
    ],
)  # fmt: skip
def test_names_that_kernels_give(question: str, name: str, yes: bool) -> None:
    assert getattr(kernel_words, question)(name) is yes
