"""What `fix` would do, did, and undid: text and JSON."""
