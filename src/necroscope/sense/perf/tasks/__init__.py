"""Who is who over time: names, address spaces and cgroups of threads."""
