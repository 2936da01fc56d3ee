"""What a neighbour search will cost, from operation counts and this machine's measured rates."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """The size of a neighbour search.

    Attributes
    ----------
    n, p, k : int
        Points, columns and neighbours.
    norm : {0, 1, 2}
        As in ``Vectors``.
    itemsize : int
        Bytes of one entry of X: 4 for float32, 1 or 2 for counts.
    threads : int
        Threads that work on it.
    """

    n: int
    p: int
    k: int
    norm: int
    itemsize: int = 4
    threads: int = 1


@dataclass(frozen=True)
class Cost:
    """A prediction."""

    seconds: float
    memory_mb: float


@dataclass(frozen=True)
class Machine:
    """Seconds per elementary operation on one core.

    Attributes
    ----------
    l1_float, l1_counts : float
        One absolute difference of the tiled kernel, of float32 and of uint8.
    l2 : float
        One multiply-add of the tiled matrix product, with its share of the selection.
    js : float
        One term of the Jensen–Shannon kernel.
    gather : float
        One element of a distance between two rows far apart in memory, as a graph or a forest
        asks for them.
    """

    l1_float: float = 6e-11
    l1_counts: float = 2e-11
    l2: float = 1.5e-11
    js: float = 5e-9
    gather: float = 5e-10
