"""What a profile is of, in OpenTelemetry's words: the node, its system, and whatever the environment adds.

`OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` (key=value,key=value; percent-encoded) count more than what is found,
as they do for OpenTelemetry's own programs. What is not known is left out: a recording from elsewhere has no host.arch.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

SERVICE = "necroscope"
_ARCHES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm32", "ppc64le": "ppc64", "i686": "x86"}
_LONGEST = 1024


def resource(host: str, kernel: str, machine: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Attributes of the resource, without those that are not known."""
    known = {
        "service.name": SERVICE,
        "host.name": host,
        "host.arch": _ARCHES.get(machine, machine),
        "os.type": "linux",
        "os.version": kernel,
    }
    known |= _from_environment(environment)
    return {key: value[:_LONGEST] for key, value in known.items() if value}


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in environment.get("OTEL_RESOURCE_ATTRIBUTES", "").split(","):
        key, equals, value = part.partition("=")
        if equals and key.strip():
            found[unquote(key.strip())] = unquote(value.strip())
    if name := environment.get("OTEL_SERVICE_NAME", "").strip():
        found["service.name"] = name
    return found
