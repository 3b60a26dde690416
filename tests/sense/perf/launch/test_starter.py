"""The perfs of distributions, each played by a shim: what they are asked for in the end, after how many attempts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from necroscope.errors import Unavailable
from necroscope.sense.host import Host
from necroscope.sense.perf.launch import starter as starting
from necroscope.sense.perf.launch.options import PerfOptions, named
from necroscope.sense.perf.launch.session import PerfSession
from necroscope.sense.perf.launch.starter import PerfStarter
from stage import perf_shim
from stage.perf_shim import OLDER, Refusal, Shim, asked

pytestmark = pytest.mark.slow


@dataclass
class Node:
    """A node with one perf on its path, and a kernel that lacks some features."""

    folder: Path
    kernel_lacks: tuple[str, ...] = ()
    starters: list[PerfStarter] = field(default_factory=list)

    def starter(self, perf: str | None = None, memory: bool = True) -> PerfStarter:
        """A new run of the recorder."""
        folder = self.folder / "store"
        folder.mkdir(exist_ok=True)
        return PerfStarter(Host(), folder if memory else None, perf, unsupported=lambda: named(self.kernel_lacks))

    def lacks(self) -> list[str]:
        """What is remembered for the next run."""
        return list(json.loads((self.folder / "store" / "perf-options.json").read_text())["lacks"])


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Node:
    monkeypatch.setattr(starting, "binaries", lambda _: starting.found)
    monkeypatch.setattr(starting, "found", [], raising=False)
    monkeypatch.setattr("necroscope.sense.perf.launch.process._within_tracefs", lambda _h, _o, command: list(command))
    return Node(tmp_path)


def _until(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    ends = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < ends:
        time.sleep(0.02)
    return holds


def _perf(node: Node, shim: Shim, name: str = "perf") -> str:
    return str(shim.write(node.folder / "bin" / name))


def _end(session: PerfSession) -> None:
    assert _until(lambda: session.take(0.1) is None)
    session.close()


WHOLE = PerfOptions()
FIVE_FOUR = PerfOptions().without(named(["build-ids", "cgroups", "control"]))


@pytest.mark.parametrize(
    ("shim", "kernel_lacks", "options"),
    [
        pytest.param(Shim(), (), WHOLE, id="6.x"),
        pytest.param(Shim(), ("build-ids",), WHOLE.without(named(["build-ids"])), id="6.x on 5.10"),
        pytest.param(Shim(), ("build-ids", "cgroups"), WHOLE.without(named(["build-ids", "cgroups"])), id="6.x on 5.4"),
        pytest.param(Shim(), (), WHOLE, id="5.15"),
        pytest.param(Shim(lacks=("buildid-mmap",)), (), WHOLE.without(named(["build-ids"])), id="5.10"),
        pytest.param(Shim(lacks=OLDER), (), FIVE_FOUR, id="5.4"),
        pytest.param(Shim(lacks=OLDER), ("build-ids", "cgroups"), FIVE_FOUR, id="5.4 on 5.4"),
        pytest.param(Shim(lacks=("all-cgroups",)), (), WHOLE.without(named(["cgroups"])), id="without cgroups"),
    ],
)
def test_the_first_perf_that_is_started_is_the_one_that_stays(
    node: Node, shim: Shim, kernel_lacks: tuple[str, ...], options: PerfOptions
) -> None:
    node.kernel_lacks = kernel_lacks
    perf = _perf(node, shim)
    with node.starter(perf).start() as session:
        assert session.options == options
        assert len(session.lacking) == len(options.lacking(WHOLE))
        assert (session.take(5.0) or b"")[:8] == b"PERFILE2"
    assert len(asked(Path(perf))) == 1
    assert node.lacks() == [one.name for one in starting.FEATURES if one.given_up(WHOLE, options)]


@pytest.mark.parametrize(
    ("refusals", "lost", "attempts"),
    [
        pytest.param([Refusal("name=", perf_shim.NO_NAME)], ["named"], 2, id="name= is refused"),
        pytest.param(
            [Refusal("name=", perf_shim.NO_NAME), Refusal("freq=", perf_shim.NO_FREQ)],
            ["named", "own-frequency"],
            3,
            id="no terms at all",
        ),
        pytest.param([Refusal("cgroup:", perf_shim.NO_TRACEPOINT)], ["tracepoints"], 2, id="no tracepoints"),
        pytest.param([Refusal("cycles/", perf_shim.NO_OVERFLOW)], ["cycles"], 2, id="a counter without interrupts"),
        pytest.param([Refusal("--buildid-mmap", perf_shim.NO_BUILD_ID)], ["build-ids"], 2, id="no build ids"),
        pytest.param(
            [Refusal("--mmap-pages 512", "failed to mmap with 12 (Cannot allocate memory)\n")],
            ["large-rings"],
            2,
            id="no memory for rings",
        ),
        pytest.param(
            [Refusal("--buildid-mmap", perf_shim.NO_BUILD_ID), Refusal("cgroup:", perf_shim.NO_TRACEPOINT)],
            ["build-ids", "tracepoints"],
            3,
            id="two things",
        ),
    ],
)
def test_only_what_perf_complains_of_is_given_up(
    node: Node, refusals: list[Refusal], lost: list[str], attempts: int
) -> None:
    perf = _perf(node, Shim(refuses=tuple(refusals)))
    with node.starter(perf).start() as session:
        assert session.options == WHOLE.without(named(lost))
    assert len(asked(Path(perf))) == attempts


def test_where_the_words_tell_nothing_each_feature_is_tried_alone(node: Node) -> None:
    """perf 6.1 with --all-cgroups on Linux 5.4, and a kernel that could not be asked."""
    perf = _perf(node, Shim(refuses=(Refusal("--all-cgroups", perf_shim.INVALID),)))
    with node.starter(perf).start() as session:
        assert session.options == WHOLE.without(named(["cgroups"]))
    lines = asked(Path(perf))
    assert [line.endswith("true") for line in lines] == [False, *[True] * 9, False]
    assert node.lacks() == ["cgroups"]


def test_features_that_are_refused_only_together_are_all_given_up_and_not_remembered(node: Node) -> None:
    perf = _perf(node, Shim(refuses=(Refusal("--all-cgroups --buildid-mmap", "something is wrong\n"),)))
    with node.starter(perf).start() as session:
        assert not session.options.cgroups
        assert not session.options.build_ids
    assert node.lacks() == []


def test_the_next_run_begins_with_what_this_one_learnt(node: Node) -> None:
    perf = _perf(node, Shim(refuses=(Refusal("name=", perf_shim.NO_NAME), Refusal("cgroup:", perf_shim.NO_TRACEPOINT))))
    node.starter(perf).start().close()
    assert len(asked(Path(perf))) == 3
    assert node.lacks() == ["named"], "tracefs may be there tomorrow"
    with node.starter(perf).start() as session:
        assert session.options == WHOLE.without(named(["named", "tracepoints"]))
    assert len(asked(Path(perf))) == 5
    assert "name=" not in asked(Path(perf))[3]


def test_a_restart_within_a_run_tries_nothing_again(node: Node) -> None:
    perf = _perf(node, Shim(refuses=(Refusal("cgroup:", perf_shim.NO_TRACEPOINT),)))
    starter = node.starter(perf, memory=False)
    starter.start().close()
    starter.start().close()
    assert len(asked(Path(perf))) == 3


def test_a_wrong_memory_heals_at_once(node: Node) -> None:
    perf = Path(_perf(node, Shim()))
    node.starter(str(perf)).start().close()
    memory = node.folder / "store" / "perf-options.json"
    wrong = {**json.loads(memory.read_text()), "lacks": ["control"]}
    perf.unlink()
    perf = Path(_perf(node, Shim(lacks=("switch-output",))))
    found = starting.binary(str(perf))
    assert found is not None
    memory.write_text(json.dumps({**wrong, "identity": found.identity}))
    with node.starter(str(perf)).start() as session:
        assert session.options == WHOLE
    assert node.lacks() == ["signal"]


def test_another_perf_at_the_same_place_is_asked_anew(node: Node) -> None:
    perf = Path(_perf(node, Shim(lacks=OLDER)))
    starter = node.starter(str(perf))
    with starter.start() as session:
        assert session.options == FIVE_FOUR
    perf.unlink()
    _perf(node, Shim())
    with starter.start() as session:
        assert session.options == WHOLE, "the package was upgraded while the recorder ran"


@pytest.mark.parametrize("after_s", [0.6, 3.0])
def test_a_slow_perf_that_dies_over_an_option_is_followed_at_once_by_one_without(node: Node, after_s: float) -> None:
    perf = _perf(node, Shim(refuses=(Refusal("--buildid-mmap", perf_shim.NO_BUILD_ID, after_s),)))
    began = time.monotonic()
    with node.starter(perf).start() as session:
        assert not session.options.build_ids
        assert session.options.cgroups
    assert time.monotonic() - began < after_s + 20.0
    assert len(asked(Path(perf))) == 2


def test_one_that_dies_after_its_stream_began_is_learnt_from(node: Node) -> None:
    perf = _perf(
        node, Shim(refuses=(Refusal("--all-cgroups", "Couldn't synthesize cgroup events.\n", 0.3, begun=True),))
    )
    starter = node.starter(perf)
    session = starter.start()
    assert session.options == WHOLE
    _end(session)
    assert session.said == "Couldn't synthesize cgroup events."
    assert starter.ended(session), "the next one need not wait"
    with starter.start() as session:
        assert session.options == WHOLE.without(named(["cgroups"]))
    assert node.lacks() == ["cgroups"]


def test_one_that_dies_twice_without_a_word_is_asked_for_the_least(node: Node) -> None:
    perf = _perf(node, Shim(refuses=(Refusal("--buildid-mmap", "", 0.2, begun=True),)))
    starter = node.starter(perf)
    again = []
    for _ in range(2):
        session = starter.start()
        _end(session)
        again.append(starter.ended(session))
    assert again == [False, True]
    with starter.start() as session:
        assert not session.options.build_ids
        assert session.take(1.0)
    assert node.lacks() == [], "nobody knows which it was"


def test_one_that_hangs_without_taking_its_wakings_is_woken_otherwise(node: Node) -> None:
    perf = _perf(node, Shim(answers=False))
    starter = node.starter(perf)
    with starter.start() as session:
        assert _until(lambda: session.hangs_for_s() >= 1.0)
    assert starter.ended(session, hung=True)
    with starter.start() as session:
        assert session.options == WHOLE.without(named(["control"]))
        assert not _until(lambda: session.hangs_for_s() >= 1.0, 2.0)


def test_a_wrapper_that_refuses_is_passed_over(node: Node) -> None:
    wrapper, other = _perf(node, Shim(wrapper=perf_shim.UBUNTU)), _perf(node, Shim(lacks=OLDER), "perf_5.4")
    starting.found = [starting.binary(wrapper), starting.binary(other)]  # type: ignore[attr-defined]
    with node.starter().start() as session:
        assert session.options == FIVE_FOUR
    with node.starter().start() as session:
        assert session.options == FIVE_FOUR
    assert len(asked(Path(wrapper))) == 0
    assert len(asked(Path(other))) == 2


def test_a_wrapper_alone_is_a_sentence_with_a_hint(node: Node) -> None:
    starting.found = [starting.binary(_perf(node, Shim(wrapper=perf_shim.UBUNTU)))]  # type: ignore[attr-defined]
    with pytest.raises(Unavailable, match="refuses to run for this kernel") as caught:
        node.starter().start()
    assert "linux-tools" in caught.value.hint


def test_no_perf_is_a_sentence(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NECROSCOPE_PATH", "/nowhere")
    with pytest.raises(Unavailable, match="perf is not installed") as caught:
        node.starter().start()
    assert "linux-perf" in caught.value.hint


def test_a_perf_that_others_may_write_is_a_sentence(
    node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    perf = Shim().write(tmp_path / "programs/perf")
    perf.parent.chmod(0o777)
    monkeypatch.setenv("NECROSCOPE_PATH", str(perf.parent))
    with pytest.raises(Unavailable, match="programs/perf is not run: other users than root can write it"):
        node.starter().start()


def test_a_perf_that_may_not_sample_is_one_sentence_after_one_attempt(node: Node) -> None:
    perf = _perf(node, Shim(refuses=(Refusal("record", perf_shim.LIMITED),)))
    with pytest.raises(Unavailable, match="perf may not sample"):
        node.starter(perf).start()
    assert len(asked(Path(perf))) == 1


def test_a_perf_that_fails_whatever_it_is_asked_for_is_a_sentence_with_its_words(node: Node) -> None:
    perf = _perf(node, Shim(refuses=(Refusal("record", "Error:\nsomething is broken\n"),)))
    with pytest.raises(Unavailable, match="perf does not start: something is broken"):
        node.starter(perf).start()
    assert len(asked(Path(perf))) == 2, "one attempt, and one trial with the least"
