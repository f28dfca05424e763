"""The version of this installation, as provenance records it."""

from importlib.metadata import version


def tool_version() -> str:
    return version("followupeval")
