"""From a verdict, a finding or a name to a plan. Reads the node, changes nothing."""
