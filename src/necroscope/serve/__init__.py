"""The page and its API over a recording: what `query` computes and `explain` judges, over HTTP, read-only."""
