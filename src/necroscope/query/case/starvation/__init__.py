"""What is known of one starved core: who was on it, who waited for it, its numbers, and who ordered its work."""
