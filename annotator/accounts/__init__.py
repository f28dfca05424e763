"""Who may do what: accounts, logins and invitations, in labels.db."""
