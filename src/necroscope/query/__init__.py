"""Window -> values: what stored looks say, computed and not yet judged."""
