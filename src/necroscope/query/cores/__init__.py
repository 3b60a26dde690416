"""What the cores did: time counters, heat maps, starved cores, patterns."""
