"""The words that every layer speaks: frozen values, and nothing that reads, stores or prints."""
