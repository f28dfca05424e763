"""Your own label table: the same statistics for any annotation project."""
