"""Where questions come from: named data sets and conversation files, each read into one shape."""
