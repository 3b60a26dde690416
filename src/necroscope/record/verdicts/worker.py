"""The child that answers one question: `python -m necroscope.record.verdicts.worker`, the question as JSON on its
standard input, the answer as JSON on its standard output.

It limits itself before it loads anything large: CPU time, memory, priority, and nothing that it could write. So a
verdict cannot cost more than it may, whatever the recording holds.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from contextlib import suppress
from typing import Any

_NICE = 10


def limited(cpu_s: float, memory_bytes: int) -> None:
    """Take the limits; they hold for good."""
    whole_s = max(1, round(cpu_s))
    resource.setrlimit(resource.RLIMIT_CPU, (whole_s, whole_s + 1))
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError):
        os.nice(_NICE)
    # One thread each: pools of threads reserve memory for every core.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_IO_THREADS"):
        os.environ[name] = "1"


def answered(question: dict[str, Any]) -> dict[str, Any]:
    """The verdict's document, with the title of its cause."""
    from pathlib import Path

    import pyarrow as pa

    pa.set_cpu_count(1)
    from necroscope.config import from_table
    from necroscope.diagnose.hypotheses import catalogue
    from necroscope.explain import explain, explain_unreported
    from necroscope.show.why.document import why_document
    from necroscope.store.read.reader import Store

    store, config, known = Store(Path(question["store"])), from_table(question["limits"], "limits"), catalogue()
    if question["event"] is not None:
        verdict = explain(store, config, event=question["event"], known=known)
    else:
        verdict = explain_unreported(store, config, since_ns=question["since_ns"], known=known)
    title = known.titles.get(verdict.cause.kind, "") if verdict.cause is not None else ""
    return {"why": why_document(verdict), "title": title}


def main() -> None:
    """One question, one answer. What goes wrong is told in a sentence, with exit code 3."""
    question = json.loads(sys.stdin.buffer.read(1 << 20))
    limited(question["cpu_s"], question["memory_bytes"])
    try:
        made = answered(question)
    except MemoryError:
        sys.exit("it needs more memory than it may take")
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}"[:500])
    sys.stdout.write(json.dumps(made | {"rss_bytes": _most_held()}))


def _most_held() -> int:
    """The most memory that was held. `ru_maxrss` would count what the parent held when it forked."""
    with open("/proc/self/status", "rb") as status:
        for line in status:
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) << 10
    return 0


if __name__ == "__main__":
    main()
