"""Rows in memory and on disk."""
