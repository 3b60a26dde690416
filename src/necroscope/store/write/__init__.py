"""The one writer: spool, sealing, merging, retention, repair."""
