"""What several verbs share: options, windows, sources, progress, notes."""
