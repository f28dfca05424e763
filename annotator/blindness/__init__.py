"""Whether the people who labelled could know more of an item than its text."""
