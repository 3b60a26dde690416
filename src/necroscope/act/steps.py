"""How each kind of step is looked at, made, and taken back. One row of `KINDS` for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from necroscope import clock
from necroscope.act.node.doors import ContainerView, Node
from necroscope.errors import Refused, Unavailable
from necroscope.vocabulary.plan import ABSENT, STATELESS, Step, StepKind

RUNNING, STOPPED, ASKED, BOOTED = "running", "stopped", "not rebooted", "rebooted"
_STARTS_S, _POLL_S = 3.0, 0.1
_RELEASE_S = 0.3


@dataclass(frozen=True, slots=True)
class Kind:
    """`state` is what is there now, as text; `make` makes the step's `after` of it, `take_back` its `before`: both
    return a note. `undo_order`: what starts things again is taken back last."""

    state: Callable[[Node, Step], str]
    make: Callable[[Node, Step], str]
    take_back: Callable[[Node, Step], str]
    undo_order: int = 0


def state(node: Node, step: Step) -> str:
    """What is there now."""
    return KINDS[step.kind].state(node, step)


def make(node: Node, step: Step) -> str:
    """Make the change."""
    return KINDS[step.kind].make(node, step)


def take_back(node: Node, step: Step) -> str:
    """Put back what was there before."""
    return KINDS[step.kind].take_back(node, step)


def _stateless(_: Node, __: Step) -> str:
    return STATELESS


def _nothing(_: Node, __: Step) -> str:
    return ""


# -- paths -------------------------------------------------------------------------------------------------


def _path_state(node: Node, step: Step) -> str:
    return node.paths.state(step.target)


def _set_path(node: Node, step: Step) -> str:
    node.paths.set(step.target, step.after)
    return ""


def _reset_path(node: Node, step: Step) -> str:
    node.paths.set(step.target, step.before)
    return ""


# -- units -------------------------------------------------------------------------------------------------


def _reload(node: Node, step: Step) -> str:
    node.units.reload()
    view = node.units.unit(step.target) if step.settings else None
    for setting in step.settings:
        now = view.settings.get(setting.name, "") if view is not None else ""
        if now != setting.value:
            raise Refused(
                f"{setting.name} of {step.target} is {now or 'unset'}, not {setting.value}: something overrides it"
            )
    return ""


def _reload_again(node: Node, step: Step) -> str:
    """Read the files again, and start what ran before and what our start limit has stopped since."""
    node.units.reload()
    for name, was in step.items:
        view = node.units.unit(name)
        if was == RUNNING and view is not None and not view.running:
            node.units.start(name)
    return ""


def _unit_state(node: Node, step: Step) -> str:
    view = node.units.unit(step.target)
    return RUNNING if view is not None and view.running else STOPPED


def _stop_unit(node: Node, step: Step) -> str:
    return node.units.stop(step.target)


def _start_unit(node: Node, step: Step) -> str:
    """Start it, and what had stopped with it."""
    names = (step.target, *(name for name, was in step.items if was == RUNNING))
    for name in names:
        node.units.start(name)
    ends = clock.elapsed_s() + _STARTS_S
    while _unit_state(node, step) != RUNNING:
        if clock.elapsed_s() > ends:
            return f"{step.target} was started, and is not running"
        clock.sleep(_POLL_S)
    return ""


# -- containers --------------------------------------------------------------------------------------------


def _view(node: Node, step: Step) -> ContainerView:
    view = node.engine.container(step.target)
    if view is None:
        raise Unavailable(f"container {step.target} is not there any more")
    return view


def _policy(node: Node, step: Step) -> str:
    return _view(node, step).policy


def _set_policy(node: Node, step: Step) -> str:
    node.engine.set_policy(_view(node, step), step.after)
    return ""


def _reset_policy(node: Node, step: Step) -> str:
    node.engine.set_policy(_view(node, step), step.before)
    return ""


def _container_state(node: Node, step: Step) -> str:
    return RUNNING if _view(node, step).running else STOPPED


def _stop_container(node: Node, step: Step) -> str:
    return node.engine.stop(_view(node, step))


def _start_container(node: Node, step: Step) -> str:
    return node.engine.start(_view(node, step))


# -- memory, processes, the node ---------------------------------------------------------------------------


def _drop_cache(node: Node, step: Step) -> str:
    return _counted(node, step, node.memory.drop_cache(step.items))


def _reclaim(node: Node, step: Step) -> str:
    """Only where all that is left can be reclaimed, seen again at this moment: else it would burn a core in vain."""
    left = node.memory.zombies(step.target)
    stuck = [one for one in left if one.kinds != ("page-cache",)]
    if stuck:
        return f"not needed or of no use: {len(stuck)} of {len(left)} zombies left are not page cache alone"
    if not left:
        return "not needed: none is left"
    directory = node.memory.directory(step.target)
    if not directory:
        raise Unavailable(f"{step.target} is not there any more")
    return _counted(node, step, node.memory.reclaim(directory, step.budget_s))


def _counted(node: Node, step: Step, note: str) -> str:
    """With the zombies that are left. The kernel releases them a moment after what pinned them is gone."""
    left = node.memory.count(step.target)
    ends = clock.elapsed_s() + _STARTS_S
    while left and clock.elapsed_s() < ends:
        clock.sleep(_RELEASE_S)
        again = node.memory.count(step.target)
        if again == left:
            break
        left = again
    return f"{note}; {left} zombies left below {step.target}"


def _remove_cgroups(node: Node, step: Step) -> str:
    return node.memory.remove(step.items)


def _remove_files(node: Node, step: Step) -> str:
    """Each that is still who it was, and that nobody uses."""
    gone = sum(node.memory.user_of(one) is None and node.paths.unlink(path, one) for path, one in step.items)
    kept = len(step.items) - gone
    return f"removed {gone} files" + (f"; {kept} are gone, in use or others by now" if kept else "")


def _alive(node: Node, step: Step) -> str:
    now = node.processes.process(int(step.target))
    return RUNNING if now is not None and (now.identity, RUNNING) in step.items else STOPPED


def _end_process(node: Node, step: Step) -> str:
    return node.processes.end(int(step.target), step.items[0][0])


def _boot_state(node: Node, step: Step) -> str:
    return ASKED if node.boot.id() == step.target else BOOTED


def _reboot(node: Node, _: Step) -> str:
    node.units.reboot()
    return "asked for; the next `necroscope fix --resume` sees whether it came"


KINDS: dict[StepKind, Kind] = {
    "set-path": Kind(_path_state, _set_path, _reset_path),
    "reload-units": Kind(_stateless, _reload, _reload_again, 1),
    "restart-policy": Kind(_policy, _set_policy, _reset_policy, 2),
    "stop-unit": Kind(_unit_state, _stop_unit, _start_unit, 3),
    "stop-container": Kind(_container_state, _stop_container, _start_container, 3),
    "drop-cache": Kind(_stateless, _drop_cache, _nothing),
    "reclaim": Kind(_stateless, _reclaim, _nothing),
    "remove-cgroups": Kind(_stateless, _remove_cgroups, _nothing),
    "remove-files": Kind(_stateless, _remove_files, _nothing),
    "end-process": Kind(_alive, _end_process, _nothing),
    "reboot": Kind(_boot_state, _reboot, _nothing),
}


def reached(step: Step, now: str) -> bool:
    """Whether a step's change is there."""
    return step.after != STATELESS and now == step.after


def untouched(step: Step, now: str) -> bool:
    """Whether what the step would change is as it was."""
    return step.before != STATELESS and now == step.before


def tidy(node: Node, step: Step) -> None:
    """Remove what a killed step left beside its path."""
    if step.kind == "set-path" and ABSENT in (step.before, step.after):
        node.paths.tidy(step.target)
