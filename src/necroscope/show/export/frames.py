"""Stacks spelled out for formats that name every frame once and stacks by the numbers of their frames."""

from __future__ import annotations

from necroscope.show.frame_label import frame_label


def frames_of(stack: str) -> list[str]:
    """The frames of a stack's canonical text, outermost first, each as name, 0x1F, module."""
    return stack.split("\x1e")[:-1]


class FrameTable:
    """Numbers frames in the order they are met, from 0 on."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def numbers(self, stack: str) -> list[int]:
        """Numbers of the frames of a stack's canonical text, outermost first."""
        known = self._numbers
        return [known.setdefault(frame, len(known)) for frame in frames_of(stack)]

    def frames(self) -> list[tuple[str, str]]:
        """Name and module of every frame met so far, by number."""
        parts = (frame.partition("\x1f") for frame in self._numbers)
        return [(name, module) for name, _, module in parts]

    def labels(self) -> list[tuple[str, str]]:
        """The same for formats that show names alone: functions without a name are called after their module."""
        return [(frame_label(name, module), module) for name, module in self.frames()]


class TextTable:
    """Texts by number; number 0 is the empty text, as protobuf profiles want it."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": 0}

    def __call__(self, text: str) -> int:
        """The number of a text."""
        return self._numbers.setdefault(text, len(self._numbers))

    def texts(self) -> list[str]:
        """Every text met so far, by number."""
        return list(self._numbers)
