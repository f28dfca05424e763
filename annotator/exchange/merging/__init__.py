"""Bringing a copy of labels.db that was labelled elsewhere back into this one."""
