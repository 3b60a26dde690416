"""The kernel's log: records, their clock, and the symptoms they report."""
