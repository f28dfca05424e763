"""A number with its noun."""


def counted(number: int, noun: str) -> str:
    """The number and its noun, in the plural unless there is one.

    >>> counted(1, "item"), counted(0, "item"), counted(2000, "more character")
    ('1 item', '0 items', '2,000 more characters')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
