"""Turns into a study and out of it: import, export, merge."""
