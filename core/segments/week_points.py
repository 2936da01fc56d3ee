"""Every household's weeks as points: what it uses at which times, without the noise of one slot.

A week is cut into parts of three hours, weekdays and weekends apart; in each part the shares of
the readings in ten classes of demand are counted. Roots of shares are coordinates in which the
Euclidean distance is Hellinger's.
"""

from dataclasses import dataclass

import numpy as np

from core.cube import build_day_table
from core.errors import InputError
from core.over_time.week_shapes import CUTS, week_numbers, week_shapes
from core.progress import Progress, silent
from core.readings import Dataset
from core.runs import RunConfig
from core.slots import check_slots, parse_slots

# Halves of the weeks are compared, each with two at least.
LEAST_WEEKS = 4


@dataclass(frozen=True, eq=False)
class WeekPoints:
    """The weeks of households.

    Attributes
    ----------
    households : tuple of str
        Those with enough whole weeks.
    shares : ndarray of float32, shape (n, weeks, parts, classes)
        Share of the readings of each part of each week in every class of demand.
    known : ndarray of bool, shape (n, weeks)
        Which weeks are whole.
    left_out : tuple of str
        Households with fewer than four whole weeks.
    """

    households: tuple[str, ...]
    shares: np.ndarray
    known: np.ndarray
    left_out: tuple[str, ...]

    def only(self, weeks: np.ndarray) -> "WeekPoints":
        """Keep these weeks, bool of shape (weeks,)."""
        return WeekPoints(self.households, self.shares, self.known & weeks, self.left_out)

    def coordinates(self, weeks: np.ndarray | None = None) -> np.ndarray:
        """Return the mean over some weeks, all by default, as points, (n, parts × classes).

        NaN where a household has none of them.
        """
        held = self.known if weeks is None else self.known & weeks
        total = np.einsum("nw,nwpc->npc", held, np.where(held[..., None, None], self.shares, 0.0))
        count = held.sum(axis=1)[:, None, None]
        mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        return np.sqrt(mean / 2).reshape(len(mean), -1)


def read_week_points(
    dataset: Dataset, config: RunConfig, *, progress: Progress = silent
) -> WeekPoints:
    """Read the weeks of a config's households, in its period and its slots."""
    slots = None if config.slots is None else parse_slots(config.slots, dataset.interval_minutes)
    cube, table = build_day_table(dataset, bins=config.bins)
    ids = dataset.households["household"].tolist()
    if config.households is not None:
        codes = np.unique([dataset.code(household) for household in config.households])
        table = table.choose(np.searchsorted(table.households, codes))
    numbers = week_numbers(table.days)
    first = int(numbers.min())
    shapes, _ = week_shapes(
        table,
        cube.n_bins,
        slots=check_slots(slots, dataset.interval_minutes),
        first_week=first,
        n_weeks=int(numbers.max()) - first + 1,
        period=config.period,
        progress=progress,
    )
    known = np.isfinite(shapes[..., 0])
    kept = known.sum(axis=1) >= LEAST_WEEKS
    names = np.array([ids[code] for code in table.households], object)
    if not kept.any():
        raise InputError(
            f"no household has {LEAST_WEEKS} whole weeks of readings, and segments are compared "
            "between halves of the weeks; choose a longer period"
        )
    below = shapes[kept].reshape(int(kept.sum()), shapes.shape[1], -1, CUTS)
    shares = np.diff(below, axis=3, prepend=0.0, append=1.0)
    return WeekPoints(tuple(names[kept]), np.maximum(shares, 0.0), known[kept], tuple(names[~kept]))
