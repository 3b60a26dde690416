"""The vocabulary of an audit: everything that runs or would run on a node, and what is concluded about it.

None is unknown, never zero. What came from the node's files and logs is text of others: shown escaped, never executed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from necroscope.vocabulary.event import Window
from necroscope.vocabulary.model import (
    ContainerState,
    Cost,
    Evidence,
    HostIdentity,
    Subject,
    UnitState,
    Unseen,
)

Role = Literal[
    "orchestrator",
    "runtime",
    "agent",
    "exporter",
    "log-shipper",
    "security",
    "cloud",
    "network",
    "storage",
    "gpu",
    "system",
    "unknown",
]
Judgement = Literal["needed", "idle", "failing", "orphaned", "unknown"]
Standing = Literal["owns", "set-up", "present", "absent"]
"""owns: its agent runs steadily here; set-up: it was configured and enabled, and does not run steadily; present: its
agent is installed and enabled, and nobody configured it; absent: nothing of it is enabled."""
Source = Literal["live", "image"]

ON = frozenset({"enabled", "enabled-runtime", "linked", "linked-runtime"})
"""States of a unit file by which a boot starts the unit."""


@dataclass(frozen=True, slots=True)
class Runs:
    """How often something started and how it ended. `window_s`: the time that the counts are about; None: since an
    unknown time. `source` says who counted."""

    starts: int | None = None
    successes: int | None = None
    failures: int | None = None
    restarts: int | None = None
    window_s: float | None = None
    source: str = ""

    @property
    def success_rate(self) -> float | None:
        """The part of its ends that were successes; None where no end was seen."""
        ends = (self.successes or 0) + (self.failures or 0)
        return (self.successes or 0) / ends if ends else None

    @property
    def restarts_per_hour(self) -> float | None:
        """None where nobody counted over a known time."""
        if self.restarts is None or not self.window_s:
            return None
        return self.restarts / self.window_s * 3600.0


@dataclass(frozen=True, slots=True)
class Costs:
    """What it takes. `cpu_share` is of one core, on average over `cpu_s`'s time; `cgroups_left` were removed and are
    still kept by the kernel."""

    cpu_s: float | None = None
    cpu_share: float | None = None
    memory_bytes: int | None = None
    cgroups_left: int | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """A unit or a container: one of both is there. `needed_by` are units that stop or fail without it, `triggers` what
    it starts; `package` is the package that ships its unit file, `program_package` that of its program. `loaded`:
    systemd knows it now."""

    unit: UnitState | None = None
    container: ContainerState | None = None
    description: str = ""
    program: str = ""
    needed_by: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    package: str = ""
    program_package: str = ""
    loaded: bool = True
    runs: Runs = Runs()
    costs: Costs = Costs()

    @property
    def subject(self) -> Subject:
        """What an operator would act on."""
        if self.unit is not None:
            return Subject("unit", self.unit.name)
        return Subject("container", self.container.name or self.container.id[:12] if self.container else "")

    @property
    def name(self) -> str:
        """Its name."""
        return self.subject.name

    @property
    def active(self) -> bool:
        """Whether it runs now, or did what it is there for."""
        if self.unit is not None:
            return self.unit.active_state == "active"
        return self.container is not None and self.container.state == "running"

    @property
    def enabled(self) -> bool:
        """Whether a boot, or the engine, starts it."""
        if self.unit is not None:
            return self.unit.unit_file_state in ON
        return self.container is not None and self.container.restart_policy in ("always", "unless-stopped")

    @property
    def since_start_s(self) -> float | None:
        """How long it has been up."""
        state = self.unit or self.container
        return state.since_start_s if state is not None else None


@dataclass(frozen=True, slots=True)
class AuditFacts:
    """Everything that was read. `found` are the files of orchestrators' configurations that are there, of those that
    were looked for. `systemd` and `engines`: whether they answered at all."""

    host: HostIdentity
    at_ns: int
    source: Source
    workloads: tuple[Workload, ...]
    found: frozenset[str] = frozenset()
    systemd: bool = False
    engines: bool = False
    recorded: Window | None = None
    unseen: tuple[Unseen, ...] = ()


@dataclass(frozen=True, slots=True)
class Owner:
    """How an orchestrator stands on this node, and by what."""

    orchestrator: str
    standing: Standing
    because: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Audited:
    """A workload with its role and what is concluded. `entry` is the id in the catalogue of roles; empty: none."""

    workload: Workload
    role: Role
    judgement: Judgement
    reasons: tuple[Evidence, ...]
    entry: str = ""
    title: str = ""
    orchestrator: str = ""


@dataclass(frozen=True, slots=True)
class Deviation:
    """A difference from the golden image."""

    kind: Literal["added", "missing", "enabled", "disabled"]
    subject: Subject
    text: str


@dataclass(frozen=True, slots=True)
class Breach:
    """What a policy does not allow. `review` is the date of an overdue review."""

    kind: Literal["not-allowed", "overdue", "incomplete"]
    subject: Subject
    text: str
    review: date | None = None


@dataclass(frozen=True, slots=True)
class AuditReport:
    """An audit. `deviations` and `breaches` are None where nobody gave a baseline, or a policy."""

    facts: AuditFacts
    audited: tuple[Audited, ...]
    owners: tuple[Owner, ...]
    cost: Cost
    deviations: tuple[Deviation, ...] | None = None
    breaches: tuple[Breach, ...] | None = None
    stale: tuple[str, ...] = field(default=())
    """Patterns of the policy that nothing on this node matches."""

    @property
    def sick(self) -> bool:
        """Whether anything is wrong: something orphaned or failing, or not as the image or the policy has it."""
        bad = any(one.judgement in ("orphaned", "failing") for one in self.audited)
        return bad or bool(self.deviations) or bool(self.breaches)

    @property
    def blind(self) -> bool:
        """Whether neither systemd nor any engine could be asked."""
        return not (self.facts.systemd or self.facts.engines)
