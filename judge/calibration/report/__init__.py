"""A calibration as people read it: on the terminal and as a page."""
