"""The budget at work: steps are taken by those that do the work, and told with what is not seen meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

from necroscope import clock
from necroscope.record.budget.governor import FREQUENCY, ORDER, PROCESSES, SYMBOLS, ZOMBIE_NAMES, Budget, Use
from necroscope.record.budget.own_use import OwnUse
from necroscope.record.budget.shedding import RECOVERS, SHEDS, Shedding, switches
from necroscope.record.plan import slow_sensors
from necroscope.sense.host import Host


def test_changes_are_acted_upon_and_told() -> None:
    done: list[tuple[str, bool]] = []
    use = [Use(0.0, 0.0, 90_000_000, 40)]
    taken = {step: partial(lambda step, shed: done.append((step, shed)), step) for step in (SYMBOLS, PROCESSES)}
    shedding = Shedding(Budget(cpu=0.04), taken, lambda: use[0])
    events = []
    for second in range(1, 1200):
        use[0] = Use(float(second), use[0].cpu_s + (0.1 if second < 200 else 0.01))
        events += shedding.turn()
    assert done == [(SYMBOLS, True), (PROCESSES, True), (PROCESSES, False), (SYMBOLS, False)]
    assert [(one.kind, one.source, one.subject) for one in events] == [
        (SHEDS, "recorder", SYMBOLS),
        (SHEDS, "recorder", PROCESSES),
        (RECOVERS, "recorder", PROCESSES),
        (RECOVERS, "recorder", SYMBOLS),
    ]
    assert "who waits for a core" in events[1].text
    assert "budget 4.0%" in events[1].text


def test_what_is_shed_is_a_signal_too() -> None:
    use = [Use(0.0, 0.0, 90_000_000, 40)]
    shedding = Shedding(Budget(cpu=0.04), dict.fromkeys(ORDER, lambda shed: None), lambda: use[0])
    shedding.turn()
    for second in range(1, 100):
        use[0] = Use(float(second), 0.1 * second)
        shedding.turn()
    values = {(one.signal, one.labels): one.value for one in shedding.samples()}
    assert values["recorder_shed", (SYMBOLS,)] == 1.0
    assert [values["recorder_shed", (step,)] for step in ORDER[1:]] == [0.0, 0.0, 0.0]
    assert (values["recorder_pss_bytes", ()], values["recorder_descriptors", ()]) == (90_000_000, 40)


def test_every_step_has_somebody_who_takes_it() -> None:
    assert set(switches(None, slow_sensors())) == {PROCESSES, ZOMBIE_NAMES}
    assert set(ORDER) - {PROCESSES, ZOMBIE_NAMES} == {SYMBOLS, FREQUENCY}


def test_own_use_counts_children_that_live_and_that_ended() -> None:
    own = OwnUse(Host())
    before = own.read()
    assert before.memory_bytes is not None
    assert before.memory_bytes > 10 << 20
    assert before.descriptors is not None
    assert before.descriptors >= len(list(Path("/proc/self/fd").iterdir())) - 1
    burn = "import time\nwhile time.process_time() < 0.5: pass\nprint('done', flush=True)\ninput()"
    child = subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdout.readline()
        assert own.tree()[0] == os.getpid()
        assert child.pid in own.tree()
        beside = own.read()
        assert beside.memory_bytes is None
        assert beside.cpu_s - before.cpu_s >= 0.45
    finally:
        child.stdin.close()
        child.stdout.close()
        child.wait()
    assert own.read().cpu_s >= beside.cpu_s - 0.02
    assert own.read().at_s <= clock.elapsed_s()
