"""Real crash loops: a unit of a real systemd, a container of a real engine, each leaking a memory cgroup a run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from necroscope.sense.containers.engines import Containers
from necroscope.sense.host import Host
from necroscope.sense.processes.names import Processes
from necroscope.sense.systemd.unit_properties import by_systemctl
from necroscope.sense.systemd.units import Systemd
from necroscope.vocabulary.model import ContainerState, ProcessTurnover, Reading, UnitState
from stage.podman import LEAKY, ContainerEngine, container_engine
from stage.processes import wait_for
from stage.systemd import SystemdStage, booted_systemd, leaky_unit

RUNS = 6


def unit(reading: Reading, name: str) -> UnitState | None:
    return next((one for one in reading.records if isinstance(one, UnitState) and one.name == name), None)


def container(reading: Reading, name: str) -> ContainerState | None:
    return next((one for one in reading.records if isinstance(one, ContainerState) and one.name == name), None)


@pytest.fixture(scope="module")
def systemd() -> Iterator[SystemdStage]:
    with booted_systemd() as stage:
        stage.add_unit("leaky.service", leaky_unit())
        stage.add_unit("healthy.service", "[Service]\nExecStart=/bin/sleep 1000\n", enable=False)
        stage.add_unit(
            "oneshot.service", "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'kill -9 $$$$'\n", enable=False
        )
        repeats = "[Service]\nExecStart=/bin/true\nRestart=always\nRestartSec=300ms\n[Unit]\nStartLimitIntervalSec=0\n"
        stage.add_unit("repeats.service", repeats, enable=False)
        # the last: a restart that is under way when systemd reloads is counted twice
        stage.add_unit("counted.service", leaky_unit(stay_after=RUNS))
        wait_for(lambda: stage.show("counted.service", "SubState") == "running", "a unit that stays up")
        wait_for(lambda: int(stage.show("counted.service", "NRestarts")) == RUNS, "its restarts")
        wait_for(lambda: int(stage.show("leaky.service", "NRestarts")) >= 2, "a crash loop")
        yield stage


def sensor(stage: SystemdStage) -> Systemd:
    return Systemd(bus=stage.bus)


@pytest.mark.root
@pytest.mark.systemd
class TestSystemd:
    def test_the_crash_loop_is_described(self, systemd: SystemdStage) -> None:
        least = int(systemd.show("leaky.service", "NRestarts"))
        found: list[UnitState] = []

        def described() -> bool:
            # Between two runs systemd may tell of it as just starting.
            one = unit(sensor(systemd).read(Host()), "leaky.service")
            found.extend([one] if one is not None else [])
            return bool(found)

        wait_for(described, "a look at the unit")
        leaky = found[-1]
        assert least <= leaky.restarts <= int(systemd.show("leaky.service", "NRestarts"))
        assert (leaky.result, leaky.exit_code, leaky.exit_status) == ("exit-code", "exited", 1)
        assert (leaky.unit_file_state, leaky.preset, leaky.wanted_by) == ("enabled", "enabled", ("multi-user.target",))
        assert (leaky.restart_policy, leaky.control_group) == ("always", f"{systemd.cgroup}/system.slice/leaky.service")
        assert leaky.fragment_path == "/etc/systemd/system/leaky.service"
        assert leaky.ever_succeeded is False
        assert leaky.last_lines == ("state file is corrupt, giving up",)
        assert leaky.since_start_s is not None
        assert leaky.since_start_s < 5

    def test_a_unit_that_came_up_at_last_keeps_its_restarts_and_its_last_failure(self, systemd: SystemdStage) -> None:
        counted = unit(sensor(systemd).read(Host()), "counted.service")
        assert counted is not None
        assert (counted.active_state, counted.sub_state, counted.restarts) == ("active", "running", RUNS)
        assert (counted.result, counted.exit_status, counted.ever_succeeded) == ("exit-code", 1, False)
        assert counted.main_pid > 0
        assert len(list(systemd.root.glob("dev/shm/leak-counted-*"))) == RUNS

    def test_failed_units_are_described_and_healthy_ones_are_only_counted(self, systemd: SystemdStage) -> None:
        reading = sensor(systemd).read(Host())
        oneshot = unit(reading, "oneshot.service")
        assert oneshot is not None
        assert (oneshot.active_state, oneshot.result, oneshot.exit_code) == ("failed", "signal", "killed")
        assert (oneshot.exit_status, oneshot.restarts, oneshot.ever_succeeded) == (9, 0, False)
        assert unit(reading, "healthy.service") is None
        active = int(systemd.run("sh", "-c", "systemctl list-units --state=active --no-legend --plain | wc -l"))
        counted = {sample.labels[0]: sample.value for sample in reading.samples if sample.signal == "systemd_units"}
        assert abs(counted["active"] - active) <= 2
        failed = int(systemd.run("sh", "-c", "systemctl list-units --state=failed --no-legend --plain | wc -l"))
        assert counted["failed"] == failed >= 1
        assert reading.unseen == ()

    def test_a_unit_that_ends_well_and_is_started_again_succeeds(self, systemd: SystemdStage) -> None:
        wait_for(lambda: int(systemd.show("repeats.service", "NRestarts")) > 0, "a restart")
        repeats = unit(sensor(systemd).read(Host()), "repeats.service")
        assert repeats is not None
        assert (repeats.result, repeats.ever_succeeded) == ("success", True)

    def test_systemctl_tells_the_same_as_the_bus(self, systemd: SystemdStage) -> None:
        units = by_systemctl(lambda command, timeout_s: systemd.run(*command).encode(), 5.0)
        troubled = {properties["Id"]: properties for properties in units.troubled}
        # Units of the machine that lent its /usr may have failed in there as well.
        own = {name for name in troubled if name.endswith(".service")}
        assert own == {"leaky.service", "counted.service", "oneshot.service", "repeats.service"}
        assert troubled["counted.service"]["NRestarts"] == str(RUNS)

    def test_a_look_is_cheap(self, systemd: SystemdStage) -> None:
        looking = sensor(systemd)
        looking.read(Host())
        started = time.monotonic()
        looking.read(Host())
        assert time.monotonic() - started < 10.0

    def test_a_stopped_unit_is_reported_as_stopped_and_its_restarts_hold_still(self, systemd: SystemdStage) -> None:
        systemd.stop_unit("leaky.service")
        first = unit(sensor(systemd).read(Host()), "leaky.service")
        time.sleep(0.5)
        second = unit(sensor(systemd).read(Host()), "leaky.service")
        assert first is not None
        assert second is not None
        assert (first.active_state, first.sub_state, first.ever_succeeded) == ("inactive", "dead", False)
        assert first.restarts == second.restarts >= 2
        # The last restart is counted when it is scheduled; the stop may come before it runs.
        assert len(list(systemd.root.glob("dev/shm/leak-leaky-*"))) - first.restarts in (0, 1)


@pytest.fixture(scope="module")
def engine() -> Iterator[ContainerEngine]:
    with container_engine() as stage:
        yield stage


@pytest.mark.root
@pytest.mark.containers
class TestContainers:
    def test_the_crash_loop_is_described(self, engine: ContainerEngine) -> None:
        leaky = engine.run("leaky", LEAKY)
        wait_for(lambda: int(engine.inspect("leaky", "{{.RestartCount}}")) >= RUNS, "a crash loop")
        least = int(engine.inspect("leaky", "{{.RestartCount}}"))
        reading = Containers(sockets=[engine.socket], cri_sockets=[]).read(Host())
        most = int(engine.inspect("leaky", "{{.RestartCount}}"))
        state = container(reading, "leaky")
        assert state is not None
        assert state.restarts is not None
        assert state.deaths is not None
        assert least <= state.restarts <= most
        assert least <= state.deaths <= most + 1
        assert (state.engine, state.id, state.image) == ("podman", leaky.id, "localhost/lab:1")
        assert (state.exit_status, state.restart_policy, state.past_ids) == (3, "always", ())
        assert state.since_start_s is not None
        assert state.since_start_s < 5
        assert state.cgroup in ("", leaky.cgroup)
        assert reading.unseen == ()
        engine.remove("leaky")
        assert len(list(engine.state.iterdir())) >= most

    def test_a_container_that_is_recreated_has_no_restarts_but_deaths(self, engine: ContainerEngine) -> None:
        identities = []
        for _ in range(4):
            identities.append(engine.run("recreated", "exit 7", restart="no").id)
            wait_for(lambda: engine.inspect("recreated", "{{.State.Status}}") == "exited", "its end")
            engine.remove("recreated")
        alive = engine.run("recreated", "busybox sleep 1000", restart="no")
        reading = Containers(sockets=[engine.socket], cri_sockets=[]).read(Host())
        state = container(reading, "recreated")
        assert state is not None
        assert (state.id, state.state, state.restarts, state.deaths) == (alive.id, "running", 0, 4)
        assert (state.past_ids, state.exit_status) == (tuple(identities), 7)
        assert state.age_s is not None
        assert state.age_s < 10
        assert state.cgroup == alive.cgroup
        assert Path(f"/sys/fs/cgroup/memory{alive.cgroup}").is_dir() or not Path("/sys/fs/cgroup/memory").is_dir()
        engine.remove("recreated")
        absent = container(Containers(sockets=[engine.socket], cri_sockets=[]).read(Host()), "recreated")
        assert absent is not None
        assert (absent.state, absent.id, absent.restarts) == ("removed", alive.id, None)
        assert (absent.deaths, absent.past_ids) == (5, tuple(identities))

    def test_without_the_engine_the_turnover_of_processes_shows(self, engine: ContainerEngine) -> None:
        engine.run("turning", "busybox sleep 0.3; exit 1")
        looking = Processes()
        looking.read(Host())
        found: set[str] = set()

        def seen() -> bool:
            time.sleep(0.3)
            records = looking.read(Host()).records
            turning = [record for record in records if isinstance(record, ProcessTurnover)]
            found.update(record.cgroup for record in turning if record.name == "conmon")
            return bool(found)

        wait_for(seen, "a turnover")
        engine.remove("turning")
        assert all(pattern.startswith("/necroscope-stage-<n>-<n>-pod") for pattern in found)
