"""One look at a node: two readings of the sensors, then the rules."""
