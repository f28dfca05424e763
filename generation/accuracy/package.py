"""A package that an extra brings: whether it is there, and what to type where it is not."""

from importlib.metadata import PackageNotFoundError, version

INSTALL = "pip install 'followupeval[accuracy]'"


def installed(distribution: str) -> str | None:
    """Its version, None where it is not installed; nothing is imported."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def missing(distribution: str) -> str:
    return f"{distribution} is not installed: {INSTALL}"
