"""How well and how fast each annotator labels; for the study's owner alone."""
