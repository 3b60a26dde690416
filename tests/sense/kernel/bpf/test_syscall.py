from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.kernel.bpf.assembler import R0, R1, Assembler
from necroscope.sense.kernel.bpf.syscall import Bpf


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_captured_host_has_no_kernel_to_ask(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="captured host"):
        Bpf(Host(tmp_path))


def test_another_machine_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "uname", type("Uname", (), {"machine": "s390x"}))
    with pytest.raises(Unavailable, match="not read on s390x"):
        Bpf(Host())


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (errno.EPERM, "needs CAP_BPF and CAP_PERFMON"),
        (errno.ENOSYS, "no bpf\\(\\) system call"),
        (errno.EINVAL, "does not take the thing: invalid argument"),
    ],
)
def test_refusals_say_what_is_missing(code: int, sentence: str) -> None:
    error = Bpf(Host())._refused(OSError(code, os.strerror(code)), "the thing")
    with pytest.raises(Unavailable, match=sentence):
        raise error
    assert error.hint


def test_a_lockdown_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host()
    monkeypatch.setattr(Host, "read_or_none", lambda *_: b"none integrity [confidentiality]\n")
    error = Bpf(host)._refused(OSError(errno.EINVAL, "x"), "the program")
    assert "lockdown" in error.message


@pytest.mark.root
@pytest.mark.bpf
def test_a_map_and_a_program_share_memory_and_everything_is_closed() -> None:
    before = descriptors()
    with Bpf(Host()) as bpf:
        fd, memory = bpf.create_map(4096)
        code = Assembler()
        code.map_value(R1, fd)
        code.set(R0, 4711)
        code.store(R1, 8, R0)
        code.exit()
        program = bpf.load(bytes(code))
        bpf.run(program)
        assert int.from_bytes(memory[8:16], "little") == 4711
        assert descriptors() > before
    assert descriptors() == before


@pytest.mark.root
@pytest.mark.bpf
def test_the_verifiers_verdict_is_passed_on() -> None:
    code = Assembler()
    code.load(R0, R0)
    code.exit()
    with Bpf(Host()) as bpf, pytest.raises(Unavailable, match="the kernel does not take the program: R0 !read_ok"):
        bpf.load(bytes(code))
