"""What the runs of a study were and what they gave, read from its store."""
