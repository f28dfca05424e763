"""labels.db to other formats and back, to another machine and back, and its copies."""
