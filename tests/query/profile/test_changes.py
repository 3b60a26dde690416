"""Each change is listed once, and none is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from necroscope.query.profile.changes import Step, changes
from necroscope.query.profile.flame import Box, Flame
from show.layouts import difference


def test_callers_with_the_same_change_are_counted_not_listed() -> None:
    found = {change.path[-1].name: change for change in changes(difference())}
    assert [step.name for step in found["reclaim"].path] == ["fault", "charge", "reclaim"]
    assert found["reclaim"].callers == 2
    assert found["all"].callers == 0
    assert set(found) == {"reclaim", "all", "unpack", "late"}


@st.composite
def _flames(draw: st.DrawFn) -> Flame:
    depths = [0]
    for _ in range(draw(st.integers(0, 25))):
        depths.append(draw(st.integers(1, depths[-1] + 1)))
    boxes = tuple(
        Box(
            n,
            f"f{n}",
            "",
            depth,
            0.0,
            1.0,
            1,
            draw(st.sampled_from((0.0, 1.0, 2.0, 2.1))),
            1.0,
            draw(st.sampled_from((1.0, 1e-6))),
        )
        for n, depth in enumerate(depths)
    )
    return Flame(boxes, 1.0, 1, 1.0, True, 0)


@given(_flames())
def test_every_significant_box_is_listed_or_calls_one_that_is(flame: Flame) -> None:
    found = changes(flame)
    listed = sum(1 + change.callers for change in found)
    assert listed == sum(box.significant and box.change != 0 for box in flame.boxes)
    sizes = [abs(change.box.change) for change in found]
    assert sizes == sorted(sizes, reverse=True)


def test_recursion_is_counted() -> None:
    names = ("all", "eval", "eval", "read")
    boxes = tuple(Box(n, name, "", n, 0.0, 1.0, 1, 2.0, 1.0, 1e-6) for n, name in enumerate(names))
    assert [change.path for change in changes(Flame(boxes, 2.0, 1, 1.0, True, 0))] == [
        (Step("eval", "", 2), Step("read", ""))
    ]
