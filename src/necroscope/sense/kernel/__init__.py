"""Kernel memory, read through BPF: structure offsets, a bounded reader, and the walk over memory cgroups."""
