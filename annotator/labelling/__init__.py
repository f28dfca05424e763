"""The labelling page: one person, one item at a time; all of its state is in labels.db."""
