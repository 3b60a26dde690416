"""Incidents for judging `why` that were written without reading how it judges."""
