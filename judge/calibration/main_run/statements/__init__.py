"""What can be said of a main run, each sentence with the test behind it."""
