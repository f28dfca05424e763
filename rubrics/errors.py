"""The one error that is the user's to mend; commands turn it into one line and exit code 1."""


class InputError(Exception):
    """Wrong input. The message says what was found, what was expected and what to type next."""
