"""Numbers that others reported: shown beside, never measured here."""
