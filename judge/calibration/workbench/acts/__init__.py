"""What an owner does on the page: each act is what a command does, and answers with a message."""
