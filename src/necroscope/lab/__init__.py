"""Incidents made for real, in cgroups and folders of their own."""
