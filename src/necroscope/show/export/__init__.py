"""Profiles of a window in the formats of other tools."""
