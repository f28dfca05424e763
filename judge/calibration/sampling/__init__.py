"""Which items people label, and what a drawn sample can speak for."""
