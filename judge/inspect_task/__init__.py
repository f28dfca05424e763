"""An exported judge prompt in Inspect: a scorer for any task, and two tasks. Imports inspect_ai."""
