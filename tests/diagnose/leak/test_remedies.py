"""What can be done about a leak: fitting to who leaks, and quoted for the shell."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from necroscope.diagnose.leak.attribution import Leak, LeakProcess
from necroscope.diagnose.leak.identity import UNKNOWN_UNIT
from necroscope.diagnose.leak.remedies import free, remedies, said, stop
from necroscope.vocabulary.leak_facts import LeakContainer, LeakUnit, Pins
from necroscope.vocabulary.model import Subject


def _leak(kind: str, name: str, **more: object) -> Leak:
    given = {"number": 9, "named": 9, "seen": 0, "share": None, "strength": 0.9, "witnesses": (), "evidence": ()}
    return Leak("zombies", Subject(kind, name), **{**given, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("unit", "command"),
    [
        (LeakUnit("a.service", "/a", unit_file_state="enabled"), "necroscope fix disable-unit -- a.service"),
        (None, "necroscope fix disable-unit -- a.service"),
        (
            LeakUnit("a.service", "/a", unit_file_state="static", triggered_by=("a.timer",)),
            "necroscope fix disable-unit -- a.service",
        ),
        (LeakUnit("a.service", "/a", unit_file_state="static"), "necroscope fix stop-unit -- a.service"),
    ],
)
def test_a_unit_is_disabled_with_what_triggers_it_or_stopped(unit: LeakUnit | None, command: str) -> None:
    found = stop(_leak("unit", "a.service", unit=unit))
    assert found.command == command
    assert not found.purges_existing


def test_what_systemd_does_not_know_is_not_disabled() -> None:
    found = stop(_leak("unit", "a.service", doubt=UNKNOWN_UNIT))
    assert found.command == "systemctl status -- a.service"
    assert UNKNOWN_UNIT in found.text
    scope = stop(_leak("cgroup", "/system.slice/a.scope"))
    assert scope.command == ""
    assert "who starts cgroup /system.slice/a.scope" in scope.text


@pytest.mark.parametrize("name", ["-.service", "a b.service", "$(reboot).service", "a';reboot;'.service", "--now"])
def test_hostile_names_are_one_word_of_the_command(name: str) -> None:
    for leak in (_leak("unit", name), _leak("unit", name, doubt=UNKNOWN_UNIT)):
        assert shlex.split(stop(leak).command)[-2:] == ["--", name]
    web = LeakContainer(name, engine="docker")
    assert shlex.split(stop(_leak("container", name, container=web)).command) == [
        "necroscope",
        "fix",
        "stop-container",
        "--",
        name,
    ]


def test_a_container_whose_engine_has_no_such_command() -> None:
    found = stop(_leak("container", "web", container=LeakContainer("web", engine="cri")))
    assert (found.command, "orchestrator" in found.text) == ("", True)


def test_a_process_is_named_with_pid_and_parent() -> None:
    made = LeakProcess("pool", 42, "/tools", 7, "runner", 9, 1)
    text = stop(_leak("process", "pool", process=made)).text
    assert "process pool (pid 42, child of runner (pid 7), in /tools)" in text
    alone = stop(_leak("process", "pool")).text
    assert "process pool release or remove" in alone
    directories = replace(_leak("process", "pool"), what="directories")
    assert "the directories it makes" in stop(directories).text


def test_what_frees_zombies_goes_by_what_pins_them() -> None:
    pins = (Pins("tmpfs", 3, 4096, ("/dev/shm/a b",)), Pins("anon", 1, 99), Pins("kernel", 1, 9))
    texts = [one.text for one in free("zombies", pins)]
    assert "delete the tmpfs files that pin them and that nobody uses, such as '/dev/shm/a b'" in texts[0]
    assert "end the processes that still hold memory" in texts[1]
    assert texts[2:] == ["Stopping the leak ends the growth only; a reboot frees every zombie."]
    (gone, _) = free("zombies", [Pins("tmpfs", None, 1, ("/dev/shm/x (deleted)",))])
    assert "deleted already" in gone.text
    assert all(one.purges_existing for one in free("zombies", pins))


def test_directories_are_removed_and_without_a_leaker_it_is_looked_for() -> None:
    first, then = remedies("directories", None)
    assert (first.action, then.action) == ("find-leaker", "remove-directories")
    assert "exits before cleaning up" in first.text
    assert said(stop(_leak("unit", "a.service"))).startswith("necroscope fix disable-unit -- a.service: Stop the leak")
    assert said(first) == first.text
