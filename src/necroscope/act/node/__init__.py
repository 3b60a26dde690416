"""The doors through which `act` reads and changes a node: units, paths, containers, memory, processes."""
