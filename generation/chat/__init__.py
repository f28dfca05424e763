"""What a model reads: its chat template, the cut before a user turn, thinking, the contexts."""
