"""At which hours of the week two groups differ."""

import numpy as np
import pandas as pd

from core.groups.demand import Demand
from core.groups.permutation import Deals, adjusted_tail_share

_DAY_TYPES = ("weekdays", "weekend")


def compare_hours(demand: Demand, rows: np.ndarray, deals: Deals) -> pd.DataFrame:
    """Compare mean demand hour by hour, on weekdays and at weekends.

    Parameters
    ----------
    demand : Demand
    rows : ndarray of int
        The households that are dealt out.
    deals : Deals
        Who is on which side, and random sides.

    Returns
    -------
    DataFrame
        ``slots`` (as ``--slots`` reads them), mean kWh per interval in the ``first`` and the
        ``second`` group, ``difference`` and ``p``, adjusted for the number of hours; the clearest
        difference first, by Welch's t.
    """
    names, values = _by_hour(demand, rows)
    t = deals.t_statistics(values)
    means = [deals.first[0] @ values, deals.second[0] @ values]
    table = pd.DataFrame(
        {
            "slots": names,
            "first": means[0],
            "second": means[1],
            "difference": means[0] - means[1],
            "p": adjusted_tail_share(t),
        }
    )
    order = np.argsort(-np.abs(t[0]), kind="stable")
    return table.iloc[order].reset_index(drop=True)


def _by_hour(demand: Demand, rows: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Names of the hours that have chosen slots, and every household's mean there, (n, hours)."""
    minutes = demand.slots * demand.interval_minutes
    day, hour = minutes // (24 * 60), minutes // 60 % 24
    kind = (day >= 5).astype(np.int64)
    slot_kwh = demand.slot_kwh[rows]
    own = np.nanmean(slot_kwh, axis=1)
    names, columns = [], []
    for cell in np.unique(kind * 24 + hour):
        inside = slot_kwh[:, kind * 24 + hour == cell]
        present = np.isfinite(inside)
        mean = np.where(present, inside, 0.0).sum(axis=1) / np.maximum(present.sum(axis=1), 1)
        # A household without a reading at an hour says nothing of it: it takes its own mean.
        columns.append(np.where(present.any(axis=1), mean, own))
        start = int(cell) % 24
        names.append(f"{_DAY_TYPES[int(cell) // 24]}{start:02d}:00-{start + 1:02d}:00")
    return names, np.stack(columns, axis=1)
