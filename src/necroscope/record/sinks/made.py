"""Sinks as the settings name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from necroscope.config.settings import Config, SinkSettings
from necroscope.record.sinks import alertmanager, command, http
from necroscope.record.sinks.profile import VARIABLE, profile_around
from necroscope.record.sinks.queue import Sink
from necroscope.record.verdicts.pronounced import Pronounced


class JsonSink:
    """POSTs `necroscope.verdict/1`."""

    def __init__(self, name: str, own: SinkSettings, node: str, labels: Mapping[str, str]) -> None:
        self.name, self._own, self._node, self._labels = name, own, node, labels

    def deliver(self, verdict: Pronounced) -> None:
        """One POST; what was told before is not told again."""
        if verdict.again:
            return
        http.post(self._own.url, verdict.document(self._node, self._labels), self._own.timeout_s)


class AlertmanagerSink:
    """POSTs alerts; a verdict that no longer holds ends its alert."""

    def __init__(self, name: str, own: SinkSettings, node: str, labels: Mapping[str, str]) -> None:
        self.name, self._own, self._node, self._labels = name, own, node, labels
        self._stand: dict[str, Pronounced] = {}
        url = own.url.rstrip("/")
        self._url = url if url.endswith(alertmanager.PATH) else url + alertmanager.PATH

    def deliver(self, verdict: Pronounced) -> None:
        """One POST with one alert, or two."""
        alerts = [alertmanager.alert(verdict, self._node, self._labels)]
        if (before := self._stand.get(verdict.replaces)) is not None:
            alerts.append(alertmanager.alert(before, self._node, self._labels, over=True))
        http.post(self._url, alerts, self._own.timeout_s)
        self._stand.pop(verdict.replaces, None)
        self._stand[verdict.id] = verdict
        while len(self._stand) > 64:
            self._stand.pop(next(iter(self._stand)))


class CommandSink:
    """Runs a program."""

    def __init__(self, name: str, own: SinkSettings, node: str, labels: Mapping[str, str], store: Path) -> None:
        self.name, self._own, self._node, self._labels, self._store = name, own, node, labels, store

    def deliver(self, verdict: Pronounced) -> None:
        """One run; what was told before is not told again."""
        if verdict.again:
            return
        document = verdict.document(self._node, self._labels)
        if not self._own.profile:
            command.run(self._own.command, document, self._own.timeout_s)
            return
        with profile_around(self._store, verdict.symptom_ns, self._own.profile) as file:
            more = {VARIABLE: str(file)} if file is not None else {}
            command.run(self._own.command, document, self._own.timeout_s, more)


def sinks(config: Config, node: str, store: Path) -> Sequence[Sink]:
    """One for each table of `[[sinks]]`."""
    found: list[Sink] = []
    for number, own in enumerate(config.sinks, 1):
        name = own.name or f"{own.kind}-{number}"
        if own.kind == "command":
            found.append(CommandSink(name, own, node, config.labels, store))
        elif own.kind == "alertmanager":
            found.append(AlertmanagerSink(name, own, node, config.labels))
        else:
            found.append(JsonSink(name, own, node, config.labels))
    return found
