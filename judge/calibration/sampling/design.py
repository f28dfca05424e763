"""The design of a sample: what was drawn of what, at which chances, and what it cannot tell."""

from dataclasses import dataclass

from judge.plural import counted

SIMPLE_RANDOM, STRATIFIED = "simple random", "stratified"


@dataclass(frozen=True)
class Stratum:
    """How many of a stratum's items are drawn, each with the chance drawn / population."""

    name: str
    drawn: int
    population: int

    @property
    def inclusion_probability(self) -> float:
        return self.drawn / self.population


@dataclass(frozen=True)
class Sample:
    """A drawn sample: `drawn` of `population` distinct items, all `strata` together.

    Stratified by the features `strata_of`, or simple random: then there is one stratum and every
    item was as likely as any other. `repeats` of the items are handed to annotators twice. `added`
    counts the distinct items that the study got since.
    """

    sample_id: str
    seed: int
    drawn: int
    population: int
    method: str = SIMPLE_RANDOM
    strata_of: tuple[str, ...] = ()
    strata: tuple[Stratum, ...] = ()
    repeats: int = 0
    added: int = 0

    @property
    def inclusion_probability(self) -> float | None:
        """Every item's chance; None where the strata's differ."""
        chances = {stratum.inclusion_probability for stratum in self.strata}
        return self.drawn / self.population if len(chances) < 2 else None

    @property
    def design(self) -> str:
        """How it was drawn, in a few words."""
        if self.method == SIMPLE_RANDOM:
            return self.method
        number = f"{len(self.strata)} strat{'um' if len(self.strata) == 1 else 'a'}"
        return f"{self.method} by {' × '.join(self.strata_of)} ({number}, {self._chances})"

    @property
    def caveat(self) -> str | None:
        """Whom the sample cannot speak for, and what it leaves unknown, if anything."""
        said = []
        if self.added:
            said.append(f"{counted(self.added, 'item')} added since had no chance of being drawn")
        if self._lone:
            said.append(
                f"strata of several items with a single one drawn: {self._lone}; their spread is "
                "unknown, so intervals tend to be too narrow"
            )
        return "; ".join(said) or None

    @property
    def _chances(self) -> str:
        chances = sorted(stratum.inclusion_probability for stratum in self.strata)
        low, high = f"{chances[0]:.3g}", f"{chances[-1]:.3g}"
        return f"chances {low}" if low == high else f"chances {low} to {high}"

    @property
    def _lone(self) -> int:
        return sum(stratum.drawn == 1 < stratum.population for stratum in self.strata)
