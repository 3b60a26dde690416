"""Ray's logs: lines as Ray 2.60 wrote them when an actor, a worker, a node and a job were made to fail, and older forms."""

# ruff: noqa: E501 - lines of logs stand as they were written

from __future__ import annotations

import contextlib
import gzip
import io
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from necroscope.errors import BadInput
from necroscope.sense.importers.logs.ray_logs import RayLogs
from necroscope.sense.importers.rows import LogEvent
from necroscope.sense.importers.sniff import kind_of_text
from necroscope.sense.importers.source import Placing

NODE = "409f95522cfe8bf5977b4ef98027affe997e18b33d46b7b2af530ccb"
ACTOR = "a4f6b483aa4aa320e0ea816001000000"
WORKER = "9e2af9788ea8129827006376962c8a4d233fe9dbe4ee850f6e264a39"
OBJECT = "0049b62d89cb30f9ffffffffffffffffffffffff0100000002e1f505"
AT = 1_794_852_089 * 10**9  # 2026-11-16 18:01:29 UTC
GCS = "[2026-11-16 18:01:29,547 W 2895 2895] (gcs_server) "
FAILED = (
    f"gcs_actor_manager.cc:1515: Actor is failed on worker {WORKER} at node {NODE}, need_reschedule = {{}}, death context "
    "type = ActorDiedErrorContext, remaining_restarts = 0, num_restarts = 0, num_restarts_due_to_node_preemption = 0, "
    f"preempted = 0 job_id=01000000 actor_id={ACTOR}"
)
MARKED = (
    f"The node with node id: {NODE} and address: 192.0.2.2 and node name: 192.0.2.2 has been marked dead because the "
    "detector has missed too many heartbeats from it. This can happen when a \t(1) raylet crashes unexpectedly (OOM, etc.) "
)
CHECK = (
    f"gcs_health_check_manager.cc:209: Health check failed for node {NODE}, remaining checks {{}}, status 4, response"
)


def read(text: str | bytes, placing: Placing | None = None) -> list[LogEvent]:
    data = text.encode() if isinstance(text, str) else text
    return list(RayLogs(io.BytesIO(data), placing or Placing()).rows())


def events_of(text: str) -> list[tuple[str, str]]:
    return [(event.kind, event.subject) for event in read(text)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (GCS + CHECK.format(2), ("ray-health-check-failed", NODE)),
        (GCS + f"gcs_health_check_manager.cc:88: Node is dead because the health check failed. node_id={NODE}", ("ray-node-dead", NODE)),
        (GCS + "gcs_node_manager.cc:761: " + MARKED, ("ray-node-dead", NODE)),
        (GCS + f"gcs_node_manager.cc:734: , death reason = EXPECTED_TERMINATION, death message = received SIGTERM node_id={NODE} node_name=192.0.2.2", ("ray-node-left", NODE)),
        (GCS + FAILED.format(1), ("ray-actor-died", ACTOR)),
        (GCS + f"gcs_actor_manager.cc:811: Actor {ACTOR} is failed on worker {WORKER} at node {NODE}, need_reschedule = 1, remaining_restarts = 0", ("ray-actor-died", ACTOR)),
        (GCS + "gcs_job_manager.cc:156: Marking job as finished. job_id=03000000", ("ray-job-ended", "03000000")),
        (GCS + "gcs_job_manager.cc:87: Finished marking job state, job id = 03000000", ("ray-job-ended", "03000000")),
        ("[2026-11-16 18:01:29,405 C 3315 3315] (raylet) node_manager.cc:971: [Timeout] Exiting because this node manager has mistakenly been marked as dead by the GCS: GCS failed to check the health of this node for 3 times.", ("ray-node-dead", "")),
        ("[2022-02-16 12:46:52,789 C 149 149] node_manager.cc:170: This node has beem marked as dead.", ("ray-node-dead", "")),
        ("[2022-02-16 12:45:07,907 W 149 199] node_manager.cc:157: Last heartbeat was sent 6901 ms ago. There might be", ("ray-heartbeat-late", "")),
        (f"[2026-11-16 18:01:39,356 W 3183 3183] (raylet) pull_manager.cc:480: Object neither in memory nor external storage {OBJECT}", ("ray-object-lost", OBJECT)),
        (f"[2022-04-08 08:07:03,804 I 110 110] (raylet) pull_manager.cc:554: Object time out {OBJECT}", ("ray-fetch-timeout", OBJECT)),
        ("[2026-11-16 18:01:29,641 E 3574 3601] core_worker.cc:609: :info_message: Attempting to recover 1 lost objects by resubmitting their tasks or setting a new primary location", ("ray-object-lost", "")),
        (f"[2026-11-16 18:01:18,746 W 2871 2871] task_manager.cc:1678: Task attempt f4402ec78d3a2607{ACTOR} failed with error ACTOR_DIED Fail immediately? 0, status IOError: cancelling task of dead actor, error info actor_died_error {{", ("ray-actor-died", ACTOR)),
        ("2026-11-16 18:01:22,466\tINFO job_supervisor.py:437 -- Job raysubmit_FR6Er2x4v88JFVPP entrypoint command exited with code 7 job_id=02000000", ("ray-job-failed", "raysubmit_FR6Er2x4v88JFVPP")),
        ("2026-11-16 18:01:22,466\tINFO job_supervisor.py:437 -- Job raysubmit_aXzvvQc5hti1URBh entrypoint command exited with code 0 job_id=02000000", ("ray-job-ended", "raysubmit_aXzvvQc5hti1URBh")),
        ('{"event_id": "51e9", "source_type": "JOBS", "message": "Completed a ray job raysubmit_FR with a status FAILED.", "timestamp": "1794852083"}', ("ray-job-failed", "raysubmit_FR")),
        (f'{{"label":"RAY_WORKER_FAILURE","message":"A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the problem, check the logs for the dead worker. Lease ID: 00 Worker ID: {WORKER} Node ID: {NODE}","severity":"ERROR","timestamp":1794852077}}', ("ray-worker-died", WORKER)),
        ('{"asctime": "2026-11-16 18:01:29,641", "levelname": "E", "message": "Job \'raysubmit_1\' failed"}', ("ray-job-failed", "raysubmit_1")),
    ],
)  # fmt: skip
def test_lines_that_tell_of_a_failure(line: str, expected: tuple[str, str]) -> None:
    assert events_of(line + "\n") == [expected]


def test_times_zones_and_text() -> None:
    (event,) = read(GCS + FAILED.format(1) + "\n")
    assert (event.at_ns, event.source, event.uncertainty_ns) == (AT + 547_000_000, "ray", 1_000_000)
    assert event.text.startswith("Actor is failed on worker 9e2af9788ea8")
    (event,) = read(GCS + FAILED.format(1) + "\n", Placing(clock_offset_ns=8 * 3600 * 10**9))
    assert event.at_ns == AT + 547_000_000 + 8 * 3600 * 10**9


def test_one_failure_in_several_lines_is_reported_once_and_checks_each() -> None:
    lines = [GCS + CHECK.format(2), GCS.replace(":29,547", ":31,547") + CHECK.format(1)]
    lines += [GCS + "gcs_node_manager.cc:761: " + MARKED] * 3
    lines += [GCS.replace("18:01:29", "18:09:29") + "gcs_node_manager.cc:761: " + MARKED]
    kinds = [kind for kind, _ in events_of("\n".join(lines))]
    assert kinds == ["ray-health-check-failed"] * 2 + ["ray-node-dead"] * 2


def test_an_actor_that_was_asked_to_end_did_not_die() -> None:
    asked = GCS + FAILED.format(0) + "\n"
    assert events_of(asked) == []
    later = f"[2026-11-16 18:01:30,703 W 3208 3208] task_manager.cc:1678: Task attempt 32b0eec39cfa87ac{ACTOR} failed with error ACTOR_DIED\n"
    assert events_of(later) == [("ray-actor-died", ACTOR)]
    assert events_of(asked + later) == []


def test_the_output_of_a_driver() -> None:
    driver = (
        "2026-11-16 18:01:15,399\tINFO worker.py:1841 -- Connecting to existing Ray cluster at address: 192.0.2.2:35851...\n"
        "Traceback (most recent call last):\n"
        '  File "/app/run.py", line 12, in <module>\n'
        "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n"
        f"\x1b[33m(raylet)\x1b[0m {MARKED}\n"
        "ray.exceptions.GetTimeoutError: Could not fetch 1 objects within the timeout of 30000ms. 1 objects were not ready.\n"
    )
    events = read(driver)
    assert [event.kind for event in events] == ["ray-actor-died", "ray-node-dead", "ray-fetch-timeout"]
    assert {event.at_ns for event in events} == {1_794_852_075_399_000_000}
    assert {event.uncertainty_ns for event in events} == {60 * 10**9}


def test_failures_without_any_time_are_counted_or_placed() -> None:
    text = b"ray.exceptions.ObjectLostError: Failed to retrieve object " + OBJECT.encode() + b". To see\n"
    reader = RayLogs(io.BytesIO(text))
    assert list(reader.rows()) == []
    assert reader.notes() == ("1 failures have no time and were left out",)
    (event,) = read(text, Placing(at_ns=5))
    assert (event.kind, event.subject, event.at_ns) == ("ray-object-lost", OBJECT, 5)


def test_quiet_lines_say_nothing() -> None:
    quiet = (
        "[2026-11-16 18:01:23,963 W 3183 3192] (raylet) store.cc:366: Disconnecting client due to connection error with code 2: End of file\n"
        "[state-dump] - num chunks received failed (all): 0\n"
        "[2026-11-16 18:01:20,474 I 2895 2895] (gcs_server) gcs_actor_scheduler.cc:463: Actor creation task succeeded. actor_id=15\n"
    )
    assert events_of(quiet) == []


def test_packed(tmp_path: Path) -> None:
    path = tmp_path / "gcs_server.out.gz"
    path.write_bytes(gzip.compress((GCS + FAILED.format(1) + "\n").encode()))
    assert len(list(RayLogs(path).rows())) == 1


@pytest.mark.parametrize("text", [b"", b"hello\n", b"\0" * 100, b"{" * 100_000])
def test_what_is_no_ray_log_is_refused(text: bytes) -> None:
    with pytest.raises(BadInput):
        read(text)


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    head = (GCS + "x.cc:1: ").encode()
    assert isinstance(read(head + data), list)
    with contextlib.suppress(BadInput):
        read(data)


@pytest.mark.parametrize(
    ("line", "subject"),
    [
        ("[2026-11-16 18:01:29,847 E 24507 24507] (raylet) worker_pool.cc:586: Some workers of the worker process(27991) have not registered within the timeout. The process is dead, probably it crashed during start.", "27991"),
        ("\x1b[2m\x1b[33m(raylet)\x1b[0m [2026-11-16 18:01:29,425 E 234 234] (raylet) worker_pool.cc:502: Some workers of the worker process(2654) have not registered within the timeout. The process is still alive, probably it's hanging during start.", "2654"),
        ("[2026-11-16 18:01:29,847 E 77 77] (raylet) worker_pool.cc:300: Some workers of the worker process(76769) have not registered to raylet within timeout (30 s), so the process 76769 will be killed immediately", "76769"),
        ("[2026-11-16 18:01:29,736 E 46008 46008] core_worker_process.cc:232: Failed to register worker to Raylet: IOError: Failed to read data from the socket: End of file worker_id=01000000ffffffffffffffffffffffffffffffffffffffffffffffff", "01000000ffffffffffffffffffffffffffffffffffffffffffffffff"),
        (f"[2026-11-16 18:01:29,736 E 46008 46008] core_worker.cc:451: Failed to register worker {WORKER} to Raylet. IOError: [RayletClient] Unable to register worker with raylet.", WORKER),
    ],
)  # fmt: skip
def test_workers_that_did_not_register(line: str, subject: str) -> None:
    assert events_of(line + "\n") == [("ray-worker-not-registered", subject)]


def test_a_worker_that_registered_is_no_failure() -> None:
    assert events_of(GCS + "worker_pool.cc:700: Worker 27991 registered with raylet after 12 s\n") == []


def test_a_late_heartbeat_tells_how_late() -> None:
    line = (
        "[2022-02-16 12:45:07,907 W 149 199] node_manager.cc:157: Last heartbeat was sent 6901 ms ago. There might be\n"
    )
    (event,) = read(line)
    assert (event.subject, event.stall_s, event.pid) == ("", 6.901, None)


def test_lines_of_before_1_2_have_no_year(tmp_path: Path) -> None:
    path = tmp_path / "raylet-20200807.out"
    path.write_text(
        "I0807 17:00:41.812641 71814 71814 worker_pool.cc:265] Some workers of the worker process(76769) have not registered to raylet within timeout.\n"
        "(pid=raylet) I0807 17:00:42.812641 71814 71814 worker_pool.cc:265] Some workers of the worker process(76770) have not registered to raylet within timeout.\n"
    )
    reader = RayLogs(path)
    assert [(event.subject, event.pid, event.at_ns) for event in reader.rows()] == [
        ("76769", 76769, 1_596_819_641_812_641_000),
        ("76770", 76770, 1_596_819_642_812_641_000),
    ]
    assert reader.notes()[0] == "the log names no year: 2020 is taken, from the file's name, 2020-08-07"


def test_json_of_the_backend_has_ids_beside_the_message() -> None:
    entry = {
        "asctime": "2026-11-16 18:01:29,547", "levelname": "W", "filename": "gcs_actor_manager.cc", "lineno": 1515, "actor_id": ACTOR,
        "message": f"(gcs_server) Actor is failed on worker {WORKER} at node {NODE}, need_reschedule = 1, death context type = ActorDiedErrorContext",
    }  # fmt: skip
    assert events_of(json.dumps(entry) + "\n") == [("ray-actor-died", ACTOR)]


def test_lines_that_tell_utc_too_tell_the_zone_of_the_others() -> None:
    utc = 1_794_852_089_547_000_000
    both = {"asctime": "2026-11-16 10:01:29,547", "timestamp_ns": utc, "message": "Job 'raysubmit_1' failed"}
    plain = {"asctime": "2026-11-16 10:02:29,547", "message": "Job 'raysubmit_2' failed"}
    reader = RayLogs(io.BytesIO((json.dumps(both) + "\n" + json.dumps(plain) + "\n").encode()))
    assert [event.at_ns for event in reader.rows()] == [utc, utc + 60 * 10**9]
    assert reader.notes() == ()
    text = f"2026-11-16 10:01:29,547\tINFO jobs.py:11 -- Job 'raysubmit_1' failed job_id=01000000 timestamp_ns={utc}\n"
    assert [event.at_ns for event in read(text)] == [utc]
    reader = RayLogs(io.BytesIO((GCS + FAILED.format(1) + "\n").encode()))
    assert list(reader.rows())
    assert reader.notes() == ("its times are local, of a zone that it does not tell, and taken as UTC: see --zone",)


def test_logs_of_containers() -> None:
    line = "2026-11-16T18:01:30.123456789Z stderr F " + GCS + FAILED.format(1) + "\n"
    assert (
        kind_of_text(line.encode() * 3 + b"2026-11-16T18:01:30.123456789Z stderr F   File x\n" * 20, "0.log") == "ray"
    )
    (event,) = read(line)
    assert (event.kind, event.at_ns) == ("ray-actor-died", AT + 547_000_000)
    docker = json.dumps(
        {"log": GCS + FAILED.format(1) + "\n", "stream": "stderr", "time": "2026-11-16T18:01:30.123456789Z"},
        separators=(",", ":"),
    )
    assert kind_of_text(docker.encode(), "x-json.log") == "ray"
    assert [event.kind for event in read(docker + "\n")] == ["ray-actor-died"]


HOSTILE = {
    "actor, again and again": GCS + "x.cc:1: " + "Actor is failed on worker need_reschedule = 1 " * 3000,
    "intended, again and again": GCS + "x.cc:1: " + "Actor is failed on worker need_reschedule = 0 " * 3000,
    "tasks": GCS + "x.cc:1: " + f"Task attempt {'a' * 48} " * 2000,
    "death": GCS + "x.cc:1: " + "death reason = UNEXPECTED_TERMINATION node_id" * 3000,
    "workers": GCS + "x.cc:1: " + "A worker died or was killed while executing a task" * 3000,
    "digits": GCS + "x.cc:1: ObjectLostError ray.exceptions.ObjectLostError: " + "1a " * 40_000,
    "component": "[2026-11-16 18:01:29,547 W " + "1" * 100_000,
    "file": "[2026-11-16 18:01:29,547 W 1 1] " + "a." * 60_000,
    "colours": "\x1b[" + "1;" * 60_000,
    "escapes": "\x1b[1" * 40_000,
    "prefix": "(" * 100_000,
    "json": '{"log":"' + "\\" * 100_000,
    "nested": '{"message": ' + "[" * 100_000,
    "registered": GCS + "x.cc:1: registered " + "Failed to register worker to Raylet " * 3000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_lines_cost_time_in_proportion_to_their_length(name: str) -> None:
    """Half a megabyte in lines of 16 KiB, and in lines of 64: a quadratic expression takes four times longer for those."""
    took = []
    for size in (1 << 14, 1 << 16):
        data = (HOSTILE[name].encode()[:size] + b"\n") * ((1 << 19) // size)
        started = time.process_time()
        with contextlib.suppress(BadInput):
            read(data)
        took.append(time.process_time() - started)
    assert took[1] < 2 * took[0] + 0.1
    assert took[1] < 1.0
