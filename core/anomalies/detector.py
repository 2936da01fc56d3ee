"""What a detector is, and the registry of all of them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.anomalies.homes import Finding, Homes
from core.anomalies.symptoms import Symptoms
from core.registry import Parameter, Registry

# Weeks that it takes to see a change, or what one day of the week is like.
QUARTER = 12


@dataclass(frozen=True)
class Statistic:
    """A number that is high for unusual households.

    Attributes
    ----------
    name : str
    shape : float
        How its tail falls off among ordinary households: log p goes down like a power of the
        value. 1 is an exponential tail, more is lighter, less is heavier (real homes are vacated
        and moved into).
    least : float
        Differences smaller than this are of no interest.
    weeks : int
        In a record of fewer weeks it says less, because there it is often chance.
    """

    name: str
    shape: float = 1.0
    least: float = 1e-6
    weeks: int = 1


@dataclass(frozen=True)
class Detector:
    """One way to be unusual.

    Attributes
    ----------
    name : str
        What people type to choose it.
    help : str
        What it looks for, in one line.
    statistics : tuple of Statistic
        What it measures.
    measure : callable
        Takes the households' symptoms and returns the statistics, (n, k). Households are compared
        with the others, never with themselves.
    explain : callable
        Takes the homes, a household's row and the name of a statistic that is loud, and returns
        what is unusual, or None where it cannot tell: then another statistic speaks.
    """

    name: str
    help: str
    statistics: tuple[Statistic, ...]
    measure: Callable[[Symptoms], np.ndarray]
    explain: Callable[[Homes, int, str], Finding | None]
    parameters: tuple[Parameter, ...] = ()


DETECTORS: Registry[Detector] = Registry("detector")
