"""Gaussian kernel density of a cloud of points in one or two dimensions, at the points themselves.

An embedding may be rotated, mirrored and stretched at will, and one point of it may lie a million
times farther out than the rest. So the cloud is first made round by a robust measure of its shape
(`Sphering`), the bandwidth is one number in these coordinates (`plug_in_bandwidth`), and the
density is computed on a grid by FFT where the points are and exactly where they are not.

All densities are leave-one-out: what the *other* points say. A point that counted itself would
make its own place look denser than it is to a fresh draw, and no isolated point would ever have
a density near zero.
"""

from core.density.kde.bandwidth import plug_in_bandwidth
from core.density.kde.binned import BinnedDensity, binned_density
from core.density.kde.exact import exact_density, exact_density_at
from core.density.kde.sphering import Sphering, sphere, turn

__all__ = [
    "BinnedDensity",
    "Sphering",
    "binned_density",
    "exact_density",
    "exact_density_at",
    "plug_in_bandwidth",
    "sphere",
    "turn",
]
