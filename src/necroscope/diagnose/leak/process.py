"""The process that made what was left behind, where samples show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from necroscope.diagnose.leak.attribution import LeakProcess
from necroscope.diagnose.leak.by_life import makers_of
from necroscope.diagnose.leak.identity import made_for_others
from necroscope.vocabulary.leak_facts import Left, Maker


def process_of(left: Sequence[Left], makers: Sequence[Maker]) -> LeakProcess | None:
    """Who made most of them, by name; None where nobody is known. What managers make for others is not theirs."""
    by_pid = {maker.pid: maker for maker in makers if maker.pid != 1}
    own = [one for one in left if not made_for_others(one.path)]
    made = makers_of(own, by_pid)
    names: Counter[str] = Counter()
    for pid, number in made.items():
        names[by_pid[pid].name] += number
    if not names:
        return None
    name, number = names.most_common(1)[0]
    mine = [by_pid[pid] for pid, _ in made.most_common() if by_pid[pid].name == name]
    one = mine[0]
    alone = len(mine) == 1
    return LeakProcess(
        name,
        one.pid if alone else None,
        one.cgroup,
        one.parent_pid if alone else None,
        one.parent_name,
        number,
        len({each.maker for each in own if each.maker is not None}),
    )
