"""Units of systemd: state, runs, and what the journal remembers of them."""
