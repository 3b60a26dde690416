"""What is claimed, measured: each benchmark compares with a peer in the same run and prints a Markdown table."""
