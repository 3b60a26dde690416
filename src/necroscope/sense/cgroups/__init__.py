"""Control groups: hierarchies, the zombie census, quotas."""
