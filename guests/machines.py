"""The guests there are: which kernel, of which release, on which kind of machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """A guest. Every one has the same Debian 12 with Python 3.11 and its perf as its system, whatever its kernel."""

    name: str
    architecture: str
    """As Debian names it: amd64, arm64."""
    suite: str
    """The release that its kernel is of."""
    kernel: str
    """The beginning of the kernel's version; empty for the newest that there is."""
    cgroups: str = "v2"
    pmu: bool = False
    """Whether its processor counts cycles. Only QEMU's arm64 can, under software emulation."""
    cpus: int = 2
    memory_mib: int = 2048


MACHINES = (
    Machine("arm64-pmu", "arm64", "bookworm", "6.1", pmu=True),
    Machine("arm64-no-pmu", "arm64", "bookworm", "6.1"),
    Machine("amd64-5.10", "amd64", "bullseye", "5.10"),
    Machine("amd64-6.1", "amd64", "bookworm", "6.1"),
    Machine("amd64-6.1-v1", "amd64", "bookworm", "6.1", cgroups="v1"),
    Machine("amd64-6.12", "amd64", "trixie", "6.12"),
    Machine("amd64-newest", "amd64", "sid", ""),
)


def machine(name: str) -> Machine:
    """The machine of this name."""
    for one in MACHINES:
        if one.name == name:
            return one
    raise KeyError(f"there is no guest {name!r}; there are {', '.join(one.name for one in MACHINES)}")
