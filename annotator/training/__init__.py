"""Training: items with a known label and feedback, until a round reaches the pass mark."""
