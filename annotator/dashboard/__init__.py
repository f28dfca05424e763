"""The owner's dashboard: how the annotation goes, from labels.db alone."""
