"""Verbs that look at this node or write its recording."""
