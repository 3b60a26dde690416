"""Necroscope: flight recorder, time machine and pathologist for Linux nodes."""

__version__ = "0.1.0"
