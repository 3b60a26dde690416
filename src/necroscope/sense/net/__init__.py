"""Network devices and the receive path."""
