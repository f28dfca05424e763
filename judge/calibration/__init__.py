"""Calibration: the only place where human labels and judgments meet."""
