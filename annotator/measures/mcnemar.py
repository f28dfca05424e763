"""McNemar's exact test: does one of two judges get more items right than the other?"""

from dataclasses import asdict, dataclass

NONE_DISCORDANT = "no discordant items"


@dataclass(frozen=True)
class McNemar:
    """`only_a` and `only_b` count the items that one alone gets right; `p` is the exact two-sided.

    `difference` is B's share of right items less A's. The test takes items for independent.
    """

    only_a: int
    only_b: int
    n: int
    p: float
    note: str | None = None

    @property
    def difference(self) -> float | None:
        return (self.only_b - self.only_a) / self.n if self.n else None

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"difference": self.difference}


def mcnemar(only_a: int, only_b: int, n: int) -> McNemar:
    """p = min(1, 2·P(Bin(b + c, 1/2) ≤ min(b, c))); 1 where no item is discordant.

    McNemar 1947 (Psychometrika 12:153), exact as a sign test.

    >>> f"{mcnemar(86, 150, 400).p:.6e}", mcnemar(0, 0, 9).note
    ('3.715936e-05', 'no discordant items')
    """
    from scipy.special import bdtr  # the binomial distribution; scipy.stats takes 2 s to import

    discordant = only_a + only_b
    if not discordant:
        return McNemar(0, 0, n, 1.0, NONE_DISCORDANT)
    p = min(1.0, 2 * float(bdtr(min(only_a, only_b), discordant, 0.5)))
    return McNemar(only_a, only_b, n, p)
