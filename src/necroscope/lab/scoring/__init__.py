"""What `why` said of a run, against the truth of that run."""
