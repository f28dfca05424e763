"""The views of the dashboard, one each; none computes a figure."""
