"""The settings as TOML, as a document, and as the tables of their page.

toml.py    what a file of settings says, with or without what each one means
page.py    the tables of docs/configuration.md
"""
