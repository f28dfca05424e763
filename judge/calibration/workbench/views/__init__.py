"""What each view of the workbench shows."""
