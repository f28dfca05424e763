"""Generation: the user-turn probe, its conversations, answers and turns, and their store."""
