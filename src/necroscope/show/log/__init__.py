"""Lines of the recorder's log as text, for people or for machines."""
