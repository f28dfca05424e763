"""Deciding the items that people label differently, blind to names and to any judge."""
