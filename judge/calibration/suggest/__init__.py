"""Suggest: a revised prompt template from disagreements whose causes the owner has noted."""
