"""Cgroups in a perf stream: tracepoints of their life, paths by id, storms of them in sums.

paths.py    the cgroup of a sample: the id it carries becomes a path; asked by decode/flush.py
columns.py  tracepoints of cgroups that are made and removed; churn.py, sums.py: when they come by the thousand
"""
