"""Processes: names, restarts, who used the cores."""
