"""Verbs that make incidents: the lab, its score, the tour."""
