"""What is to be generated: a plan, its file, the rows it amounts to and what they would take."""
