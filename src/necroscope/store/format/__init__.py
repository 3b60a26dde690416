"""What is on disk: tables, frames, segments, manifests; to bytes and back."""
