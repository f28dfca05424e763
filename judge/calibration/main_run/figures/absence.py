"""A figure that there is nothing to draw for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Absent:
    """`name` is what its files would be called, `reason` why there are none."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"
