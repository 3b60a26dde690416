"""`necroscope scan` as users see it: documents, texts, exit codes, and nothing a hostile tree could do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from necroscope.cli.main import VERBS
from necroscope.sense.host import Host
from stage.program import Program

pytestmark = pytest.mark.slow

Lay = Callable[[str], Host]
CONTRACT = {"schema", "host", "cgroups", "findings", "unavailable", "cost"}


def test_the_incident_as_a_document(necroscope: Program, captured: Lay) -> None:
    ran = necroscope("scan", "--root", captured("incident").root, "--json")
    document = ran.document
    assert ran.code == 1
    assert document.keys() >= CONTRACT
    assert document["schema"] == "necroscope.scan/1"
    assert document["host"] == {
        "name": "gpu-node",
        "kernel": "5.4.0-aws",
        "boot_id": "5b2c4c0e-9a0f-4a53-a7c8-0d1c7c6f39aa",
        "cpus": 96,
    }
    memory = document["cgroups"]["memory"]
    assert (memory["tracked"], memory["live"], memory["zombies"]) == (68_680, 240, 68_440)
    assert memory["counted_by"] == "proc-cgroups"
    findings = {finding["id"]: finding for finding in document["findings"]}
    assert findings["zombie-memcg"]["severity"] == "critical"
    reset = findings["nic-reset"]
    assert reset["subject"] == {"kind": "device", "name": "eth0"}
    assert "queue 5" in reset["evidence"][0]["text"]
    assert document["cost"]["kernel_s"] <= document["cost"]["cpu_s"]


def test_the_incident_as_a_story(necroscope: Program, captured: Lay) -> None:
    ran = necroscope("scan", "--root", captured("incident").root)
    assert "68,680 tracked · 240 live · 68,440 zombies" in ran.out
    assert "sick: 2 critical" in ran.out
    assert ran.out == "\n".join(line.rstrip() for line in ran.out.split("\n"))
    assert "\x1b" not in ran.out


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(necroscope: Program, captured: Lay, columns: int) -> None:
    ran = necroscope("scan", "--root", captured("incident").root, columns=columns)
    assert max(len(line) for line in ran.out.splitlines()) <= columns
    assert "68,440" in ran.out


def test_a_healthy_host_leaves_with_zero(necroscope: Program, captured: Lay) -> None:
    ran = necroscope("scan", "--root", captured("v2-nested").root)
    assert ran.code == 0
    assert "nothing wrong found, but" in ran.out
    assert "could not be made" in ran.out


def test_findings_come_before_what_was_counted(necroscope: Program, captured: Lay) -> None:
    out = necroscope("scan", "--root", captured("incident").root).out
    places = [out.index(words) for words in ("sick: 2 critical", "✖ CRITICAL", "Memory cgroups", "Could not be seen")]
    assert places == sorted(places)
    assert out.rindex("CRITICAL") < out.index("Memory cgroups")


@pytest.mark.root
@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv (Debian: util-linux)")
def test_who_may_not_read_the_kernel_log_does_not_call_a_node_healthy(necroscope: Program, tmp_path: Path) -> None:
    """Thresholds keep what is wrong with this machine out of it."""
    config = tmp_path / "necroscope.toml"
    config.write_text(
        "[zombies]\nwarning = 1000000\ncritical = 1000000\ngrowing_from = 1000000\n[crash_loop]\nrestarts = 1000000\n"
    )
    no_rights = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    ran = necroscope("scan", "--config", config, before=no_rights)
    if "sick: " in ran.out:
        pytest.skip(f"something is wrong here: {ran.out.splitlines()[1]}")
    assert ran.code == 3
    assert "inconclusive: the kernel log could not be read; nothing else was found wrong" in ran.out
    assert necroscope("scan", "-q", "--config", config, before=no_rights).code == 3


def test_quiet_speaks_through_its_exit_code(necroscope: Program, captured: Lay) -> None:
    ran = necroscope("scan", "-q", "--root", captured("incident").root)
    assert (ran.code, ran.out, ran.err) == (1, "", "")


def test_thresholds_can_be_set(necroscope: Program, captured: Lay, tmp_path: Path) -> None:
    config = tmp_path / "necroscope.toml"
    config.write_text("[zombies]\nwarning = 80\n")
    assert necroscope("scan", "-q", "--root", captured("v2-nested").root, "--config", config).code == 1
    config.write_text("[zombies]\nwarnings = 80\n")
    ran = necroscope("scan", "--root", captured("v2-6.12").root, "--config", config)
    assert ran.code == 2
    assert "unknown setting 'warnings'" in ran.err
    assert "hint: did you mean warning? there are warning" in ran.err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["scan", "--nonsense"], "No such option"),
        (["scn"], "There is no verb scn.\n  hint: did you mean scan?"),
        (["zzz"], "There is no verb zzz.\n  hint: necroscope --help lists the verbs"),
        (["scan", "--for", "soon"], "no length of time"),
        (["scan", "--root", "/absent"], "not a directory"),
        (["scan", "--bundle", "/absent"], "does not exist"),
        (["scan", "--root", "/tmp", "--bundle", "/tmp/x"], "exclude each other"),
        (["scan", "--root", "/tmp", "--watch"], "watches a live host"),
    ],
)
def test_mistakes_get_one_sentence_and_exit_two(necroscope: Program, arguments: list[str], complaint: str) -> None:
    ran = necroscope(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert complaint.lower() in ran.err.lower()


def test_an_empty_tree_is_not_healthy_but_inconclusive(necroscope: Program, tmp_path: Path) -> None:
    ran = necroscope("scan", "--root", tmp_path, "--json")
    document = ran.document
    assert ran.code == 3
    assert "inconclusive" in necroscope("scan", "--root", tmp_path).out
    assert document["cgroups"]["memory"] is None
    assert {"memcg", "cpu", "kmsg", "systemd"} <= {line["sensor"] for line in document["unavailable"]}
    assert {line["rule"] for line in document["skipped"]} >= {"zombie-memcg", "kernel-log"}


def test_a_hostile_tree_cannot_hang_crash_or_paint(necroscope: Program, captured: Lay) -> None:
    root = captured("hybrid").root
    evil = "\x1b[2J\x1b]0;owned\x07\nnew line\udcff"
    for number in range(12):
        folder = root / "sys/fs/cgroup/memory" / f"{evil}{number:032x}"
        folder.mkdir()
        (folder / "cgroup.procs").write_bytes(b"")
    for name, data in {
        "proc/meminfo": b"\xff" * 4096,
        "proc/vmstat": b"",
        "proc/stat": b"cpu0 1 2",
        "dev/kmsg": b"\x1b[2J",
    }.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)
    (root / "proc/uptime").unlink()
    os.mkfifo(root / "proc/uptime")
    (root / "proc/interrupts").symlink_to("/dev/zero")
    (root / "proc/softirqs").symlink_to("/etc/passwd")
    (root / "proc/sys/kernel/hostname").write_bytes(b"\x1b[31mred\x1b[0m\n")
    with (root / "proc/pressure").open("wb") as huge:
        huge.truncate(1 << 40)
    ran = necroscope("scan", "--root", root)
    assert ran.code in (0, 1)
    assert "\x1b" not in ran.out
    assert "\x07" not in ran.out
    assert r"\x1b[31mred" in ran.out
    assert "root:" not in ran.out
    document = necroscope("scan", "--root", root, "--json").document
    assert document["cgroups"]["memory"]["leaked_directories"] == 12


def test_a_tree_of_ten_thousand_levels_is_not_followed_to_its_end(necroscope: Program, captured: Lay) -> None:
    root = captured("hybrid").root
    fd = os.open(root / "sys/fs/cgroup/memory", os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("d", dir_fd=fd)
        below = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    ran = necroscope("scan", "--root", root)
    assert ran.code in (0, 1)
    subprocess.run(["rm", "-rf", root / "sys/fs/cgroup/memory/d"], check=True)


def test_no_room_for_the_output_is_a_sentence(captured: Lay) -> None:
    program = str(Path(sys.executable).parent / "necroscope")
    with Path("/dev/full").open("w") as full:
        command = [program, "scan", "--json", "--root", captured("incident").root]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, "cannot be written" in done.stderr, "Traceback" in done.stderr) == (3, True, False)


def test_a_reader_that_goes_away_is_no_error(captured: Lay) -> None:
    program_path = str(Path(sys.executable).parent / "necroscope")
    command = [program_path, "scan", "--json", "--root", str(captured("incident").root)]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stdout is not None
    program.stdout.close()
    assert program.stderr is not None
    with program.stderr as complaints:
        assert complaints.read() == ""
    assert program.wait(20) == 141


def test_help_has_examples_for_every_verb(necroscope: Program) -> None:
    overview = necroscope("--help")
    assert overview.code == 0
    for verb in VERBS:
        assert verb in overview.out
        assert "Example" in necroscope(verb, "--help").out
