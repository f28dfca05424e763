"""The embedded baseline: labels by rules, without a model and without a prompt."""
