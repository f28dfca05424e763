"""The files that pages are made of, as they lie beside their code."""

from importlib import resources


def page_file(package: str, name: str) -> str:
    """A file of the folder `page` in a package of ours."""
    return (resources.files(package) / "page" / name).read_text(encoding="utf-8")


def base_style() -> str:
    """The style that holds for every page of ours, whose root is a `.desk`."""
    return page_file("annotator.web", "base.css")
