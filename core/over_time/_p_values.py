"""Tail probabilities under permutations, and false discovery rates."""

import numpy as np


def pooled_p_values(observed: np.ndarray, permuted: np.ndarray) -> np.ndarray:
    """Tail probabilities of observed values among those of permutations, of all rows together.

    Each row is measured by the mean and the standard deviation of its own permutations, so that
    the permutations of all rows make one null: with few of them p can still be small.

    Parameters
    ----------
    observed : ndarray of shape (n,)
    permuted : ndarray of shape (n, permutations)
    """
    spread = permuted.std(axis=1, ddof=1)
    spread[spread == 0] = np.inf
    z = (observed - permuted.mean(axis=1)) / spread
    null = np.sort(((permuted - permuted.mean(axis=1, keepdims=True)) / spread[:, None]).ravel())
    at_least = len(null) - np.searchsorted(null, z, side="left")
    return (1 + at_least) / (1 + len(null))


def q_values(p: np.ndarray) -> np.ndarray:
    """Return the false discovery rates of Benjamini and Hochberg."""
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p)) if len(p) else p
