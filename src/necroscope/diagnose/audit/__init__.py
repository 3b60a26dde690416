"""What runs on a node and has business there: roles, owners, judgements. Pure; the reading is done by `scan/audit`.

roles.py, roles.toml   what units and containers are there for, by name: in an audit, and nowhere else
owners.py              which orchestrator owns the node
judge.py               judge(facts): needed, idle, failing, orphaned, unknown, each with reasons
orphans.py, runs.py    the judgements that need most evidence
baseline.py, policy.py against a golden image, and against what is allowed
"""

from __future__ import annotations

from necroscope.diagnose.audit.judge import judge_all
from necroscope.diagnose.audit.roles import Roles, roles_of

__all__ = ["Roles", "judge_all", "roles_of"]
