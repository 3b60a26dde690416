"""What a rule is: a function whose signature states the facts it needs.

    def leaked_directories(census: Census, limits: ZombieLimits) -> Iterator[Finding]: ...

A parameter's annotation is the fact's type; `Fact | None` may be absent. The engine asks a rule only when its facts
are there, and records what was missing otherwise. A rule's name is its function's name with hyphens, and the first
line of its docstring says what it finds.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from necroscope.vocabulary.model import Finding

RuleFunction = Callable[..., Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule function, the facts it needs (parameter -> fact type, may be absent), and the findings it can make."""

    name: str
    function: RuleFunction
    needs: Mapping[str, tuple[type, bool]]
    finds: tuple[str, ...]

    def missing(self, facts: Mapping[type, object]) -> tuple[str, ...]:
        """Names of the required facts that are not there."""
        return tuple(
            kind.__name__ for kind, optional in self.needs.values() if not optional and facts.get(kind) is None
        )

    def ask(self, facts: Mapping[type, object]) -> tuple[Finding, ...]:
        """Its findings for these facts; one that the rule did not declare is a defect."""
        findings = tuple(self.function(**{name: facts.get(kind) for name, (kind, _) in self.needs.items()}))
        undeclared = {finding.id for finding in findings} - set(self.finds)
        if undeclared:
            raise ValueError(f"rule {self.name} makes findings that it does not declare: {', '.join(undeclared)}")
        return findings


def rule(function: RuleFunction, *finds: str) -> Rule:
    """The rule that a function is, making findings with these ids."""
    hints = get_type_hints(function)
    hints.pop("return", None)
    needs = {name: _need(hint) for name, hint in hints.items()}
    return Rule(function.__name__.replace("_", "-"), function, needs, finds)


def _need(hint: Any) -> tuple[type, bool]:
    if get_origin(hint) in (Union, types.UnionType):
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        return kinds[0], True
    return hint, False
