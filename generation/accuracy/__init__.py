"""Whether an answer is right: one scorer per kind of task, each said to be checkable or not."""
