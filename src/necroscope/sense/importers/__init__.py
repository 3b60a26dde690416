"""Readers of files that other tools wrote.

A new one is registered in two places: `sniff.py` tells from its first bytes which kind a file is (`Kind`), and
`record/imports/file_importers.py` says who reads that kind.
"""
