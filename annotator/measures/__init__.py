"""Measures of agreement and their intervals: arrays in, numbers out; knows no study."""
