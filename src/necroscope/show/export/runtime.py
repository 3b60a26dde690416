"""Packages that only some exports need, loaded when they are asked for."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

from necroscope.errors import Unavailable

_HINT = "pip install 'necroscope[export]'"


def protobuf() -> Any:
    """What is used of the protobuf runtime; `Unavailable` when it is not installed."""
    names = ("descriptor_pb2", "descriptor_pool", "message_factory")
    return SimpleNamespace(**{name: _loaded(f"google.protobuf.{name}", "protobuf") for name in names})


def otlp() -> Any:
    """OTLP's messages of the profiles signal; `Unavailable` when they are not there, or in another draft of it."""
    package = "opentelemetry-proto"
    profiles = _loaded("opentelemetry.proto.profiles.v1development.profiles_pb2", package)
    if not {"stack_table", "attribute_table"} <= set(profiles.ProfilesDictionary.DESCRIPTOR.fields_by_name):
        raise Unavailable(f"The installed {package} has an older draft of OTLP profiles.", f"{_HINT} --upgrade")
    return profiles


def json_format() -> Any:
    """protobuf's own mapping to JSON."""
    return _loaded("google.protobuf.json_format", "protobuf")


def _loaded(module: str, package: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError as error:
        raise Unavailable(f"This export needs the Python package {package}, which is not installed.", _HINT) from error
