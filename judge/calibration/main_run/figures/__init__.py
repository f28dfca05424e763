"""A main run as figures: PNG, SVG and PDF."""
