"""Which package ships a file: the package managers' own lists, read and never run."""
