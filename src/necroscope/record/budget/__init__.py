"""What the recorder costs, and what it gives up when it costs too much."""
