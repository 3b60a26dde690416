"""Real actors for real tests: a booted systemd, a container engine. Each cleans up, and checks that it did."""
