"""Annotator: blind labelling of items in the browser, over labels.db alone."""
