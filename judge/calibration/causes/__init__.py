"""Causes: why judge and people differ on an item, as the study's owner sees it."""
