"""Allocation: how many items each stratum gives to a sample of n."""

from collections.abc import Mapping


def allocate(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Equal shares of n, capped at a stratum's size; what a cap leaves over goes to the others.

    Items are dealt out one by one in rounds, larger strata first and then by name, so one item
    more never takes any from a stratum: a larger sample of the same strata contains the smaller.

    >>> allocate({"a": 2, "b": 50, "c": 9}, 12)
    {'a': 2, 'b': 5, 'c': 5}
    """
    given = dict.fromkeys(sizes, 0)
    open_strata = sorted(sizes, key=lambda name: (-sizes[name], name))
    left = min(n, sum(sizes.values()))
    while left:
        open_strata = [name for name in open_strata if given[name] < sizes[name]]
        for name in open_strata[:left]:
            given[name] += 1
        left -= min(left, len(open_strata))
    return given
