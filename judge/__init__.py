"""Judge: labels stored turns with a judge prompt or the lexical baseline; calibrates it."""
