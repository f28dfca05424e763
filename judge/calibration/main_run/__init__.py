"""The main run as a paper or a model card tells it: tables, figures, statements, a page."""
