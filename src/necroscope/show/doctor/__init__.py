"""What `doctor` found, as text and as a document."""
