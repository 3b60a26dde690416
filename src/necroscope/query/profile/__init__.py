"""Profiles of a window: who ran, in which stacks, against what is normal."""
