"""Kernel memory, read through BPF: structure offsets, a bounded reader, and the walk over memory cgroups.

memcg_walk.py  the walk on the live kernel     walker.py    the tree            siblings.py  one list of children
zombies.py     name and age of each            pins.py      what keeps it       files.py     which files those are
layout.py      offsets, from btf.py            pointers.py  what may be read    tally.py     families
"""
