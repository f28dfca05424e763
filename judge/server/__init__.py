"""All that talks to a judge model's server, and what bounds it: limits, patience, price."""
