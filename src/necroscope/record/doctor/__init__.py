"""Can this node be recorded: a short recording for real, to a folder that is thrown away, and a look at the place."""
