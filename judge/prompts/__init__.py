"""The judge prompt: a template × a rubric, and the versions of templates."""
