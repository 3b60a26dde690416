"""What a scenario runs in: systemd, containers, a network, a recorder, a kernel log."""
