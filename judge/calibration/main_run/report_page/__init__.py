"""A main run as a page that opens from a folder, down to the single turn, without a network."""
