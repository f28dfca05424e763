"""A study as a data set that can be published: turns, verdicts and people's labels."""
