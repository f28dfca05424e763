"""A judge at work on a study: what is still to be asked, each verdict, and how it stands."""
