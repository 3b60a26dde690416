"""Necroscope: flight recorder, time machine and root-cause finder for Linux nodes."""

__version__ = "0.1.0"
