"""Verbs that ask a recording: the cause, the events, the pictures, SQL."""
