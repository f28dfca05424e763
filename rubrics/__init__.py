"""Rubrics: what the seven categories mean, as versioned data with a small loader."""

from rubrics.diff import RubricDiff, diff_rubrics, render_diff
from rubrics.errors import InputError
from rubrics.fingerprint import (
    bytes_fingerprint,
    canonical_json,
    file_fingerprint,
    fingerprint,
    short,
)
from rubrics.rubric import (
    Category,
    Example,
    Heir,
    Rubric,
    available_versions,
    check_heirs,
    latest_version,
    load_rubric,
    parse_rubric,
)

__all__ = [
    "Category",
    "Example",
    "Heir",
    "InputError",
    "Rubric",
    "RubricDiff",
    "available_versions",
    "bytes_fingerprint",
    "canonical_json",
    "check_heirs",
    "diff_rubrics",
    "file_fingerprint",
    "fingerprint",
    "latest_version",
    "load_rubric",
    "parse_rubric",
    "render_diff",
    "short",
]
