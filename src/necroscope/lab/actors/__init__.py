"""Processes of a scenario: who leaks, who walks, who waits, who only looks guilty."""
