"""How often turns are genuine follow-ups, corrected for the judge's errors, with intervals."""
