"""Changing the rubric while people label: what comes into force, and what is to be done again."""
