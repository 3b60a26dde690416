"""Answers: one module for each question of the API, from parameters to a document or columns."""
