"""Verbs for files: recordings of other tools, bundles, the store itself."""
