"""A main run as tables, and tables as text, Markdown, LaTeX, CSV and JSON."""
