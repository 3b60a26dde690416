"""Metrics as Prometheus reads them, and the page that lists them."""
