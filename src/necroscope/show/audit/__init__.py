"""An audit as text, as a JSON document, and as the files that it writes: a baseline, a policy."""
