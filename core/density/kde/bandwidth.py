"""The bandwidth of a kernel density, from the data."""

import math

import numpy as np
from scipy import fft

from core.density.kde.binning_grid import Grid, lay_grid

_PILOT_CELLS = 2048
# Wider than any pilot bandwidth reaches, so that what the periodic FFT wraps around is far away.
_MARGIN = 3.0
# With two stages, the textbook's number, rings and clusters of a few hundred points still come out
# twice as wide as they are; with more than three, a normal cloud becomes narrow.
_STAGES = 3


def plug_in_bandwidth(z: np.ndarray) -> float:
    """Plug-in bandwidth of points (n, d) in round coordinates.

    The bandwidth that minimises the asymptotic mean integrated squared error needs ∫ (∇²f)².
    It is estimated with a pilot bandwidth that needs the next such integral, and so on; only the
    last is taken from the normal distribution (Wand and Jones 1995, §4.7). Embeddings have
    clusters and arms; a normal-reference rule blurs these into one hill, while the plug-in follows
    them and is nearly equal to it for a normal cloud. One far point changes nothing: it is off
    the grid.

    With ψ_r = ∫ f (∇²)^r f the integrals are sums over the spectrum of the binned points. With
    more than two axes the grid would be too large: then it is the normal-reference rule.
    """
    n, d = z.shape
    normal_reference = (4 / (d + 2) / n) ** (1 / (d + 4))
    if d > 2:
        return normal_reference
    grid = lay_grid(
        z,
        step=normal_reference / 8,
        margin=_MARGIN,
        max_cells=_PILOT_CELLS,
        max_outside=n // 50 + 1,
    )
    inside = z[grid.holds(z)]
    power, frequency_squared = _power_spectrum(inside, grid)
    count = len(inside)

    def integral(r: int, bandwidth: float) -> float:
        # Linear binning has widened each point by a variance of step² / 6.
        variance = max(bandwidth**2 - grid.step**2 / 3, 0.0)
        return float(
            np.sum(power * frequency_squared**r * np.exp(-variance * frequency_squared / 2))
        )

    def gaussian_integral(r: int, variance: float) -> float:
        """(2π)^−d ∫ |ω|^2r exp(−variance |ω|² / 2) dω, which is |ψ_r| of a Gaussian."""
        sphere_area = 2.0 if d == 1 else 2 * math.pi
        power_of = r + d / 2
        return (
            sphere_area / 2 * (2 / variance) ** power_of * math.gamma(power_of) / (2 * math.pi) ** d
        )

    def pilot(r: int, next_integral: float) -> float:
        """The bandwidth at which the two leading biases of ψ_r cancel."""
        half_variance = (gaussian_integral(r, 2.0) / (count * next_integral)) ** (
            1 / (r + 1 + d / 2)
        )
        return math.sqrt(2 * half_variance)

    needed = gaussian_integral(2 + _STAGES, 2.0)
    for r in range(1 + _STAGES, 1, -1):
        needed = integral(r, pilot(r, needed))
    kernel = d * (4 * math.pi) ** (-d / 2)
    return (kernel / (n * needed)) ** (1 / (d + 4))


def _power_spectrum(z: np.ndarray, grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """|χ(ω)|² / volume and |ω|² on the grid; χ is the points' characteristic function."""
    spectrum = fft.rfftn(grid.bin(z) / len(z))
    volume = math.prod(grid.shape) * grid.step ** len(grid.shape)
    power = (spectrum.real**2 + spectrum.imag**2) / volume
    # The half of the spectrum that a real transform leaves out mirrors the half that it gives.
    power[..., 1 : (grid.shape[-1] + 1) // 2] *= 2
    return power, grid.frequency_squared
