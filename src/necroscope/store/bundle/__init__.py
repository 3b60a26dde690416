"""One file with a window of a recording, or with one instant of a node."""
