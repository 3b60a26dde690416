"""docs/operate.md is complete: every kind of line, every sink, every alert, every file it names."""

from __future__ import annotations

import re
from pathlib import Path

from necroscope.config.setting import about
from necroscope.config.settings import SinkSettings
from necroscope.record.service import log

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/operate.md").read_text("utf-8")


def test_every_kind_of_line_is_on_the_page_and_no_other() -> None:
    sources = [(ROOT / "src/necroscope/record/service" / name).read_text("utf-8") for name in ("service.py", "log.py")]
    written = {kind for text in sources for kind in re.findall(r'\.line\(\s*(?:"\w+"|[^,]+),\s*"([a-z-]+)"', text)}
    table = re.search(r"\| kind \| level \| what \|\n(.*?)\n\n", PAGE, re.DOTALL)
    assert table is not None
    rows = [line.split("|")[1] for line in table[1].splitlines()]
    listed = {kind for row in rows for kind in re.findall(r"`([a-z-]+)`", row)}
    assert len(written) > 5
    assert listed == written | set(log._OWN) | {"symptom", "verdict"}


def test_every_sink_and_alert_is_on_the_page() -> None:
    kinds = about(next(iter(SinkSettings.__dataclass_fields__.values()))).choices
    assert len(kinds) == 3
    for kind in kinds:
        assert f"| `{kind}` |" in PAGE
    alerts = re.findall(r"alert: (\S+)", (ROOT / "deploy/prometheus/rules.yaml").read_text("utf-8"))
    assert len(alerts) > 5
    assert [one for one in alerts if f"`{one}`" not in PAGE] == []
