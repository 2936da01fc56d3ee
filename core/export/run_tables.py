"""The tables of a run: its points, its edges, and the distributions behind some points."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.cube import Cube
from core.readings import Dataset
from core.runs import Run
from core.slots import parse_slots, slot_labels
from core.vectors import window_sum


def point_table(
    run: Run,
    *,
    chosen: Sequence[int] | np.ndarray = (),
    found: pd.DataFrame | None = None,
    by_rank: bool = False,
) -> pd.DataFrame:
    """One row a point: what :meth:`core.runs.Run.table` has, and whether it is ``selected``.

    Parameters
    ----------
    chosen : sequence of int
        Rows that are selected.
    found : DataFrame of n rows, optional
        Further columns, such as what is unusual about each household.
    by_rank : bool
        Whether the most anomalous comes first; else points come in the order of the households.
    """
    table = run.table()
    selected = np.zeros(run.n, bool)
    selected[np.asarray(chosen, np.int64)] = True
    place = table.columns.get_loc("mean_kwh") + 1
    name = "selected" if "selected" not in table else "is_selected"
    table.insert(place, name, selected)
    if found is not None:
        for column in found:
            free = column if column not in table else f"{column}_found"
            table[free] = found[column].to_numpy()
    if by_rank:
        table = table.sort_values("rank", kind="stable", ignore_index=True)
    return table


def edge_table(run: Run, *, by_rank: bool = False) -> pd.DataFrame:
    """One row for every point and neighbour: labels, the how many-th it is, and the distance.

    It is the graph that was embedded, which has more than K neighbours for t-SNE.
    """
    indices, distances = run.neighbors.indices, run.neighbors.distances
    order = np.argsort(run.hdr.rank, kind="stable") if by_rank else np.arange(run.n)
    indices, distances = indices[order], distances[order]
    found = indices >= 0
    sources, places = np.nonzero(found)
    labels = run.units["label"]
    return pd.DataFrame(
        {
            "point": labels.iloc[order[sources]].to_numpy(),
            "neighbor": labels.iloc[indices[found]].to_numpy(),
            "nearest": places + 1,
            "distance": distances[found],
        }
    )


def distribution_table(
    run: Run, dataset: Dataset, cube: Cube, rows: Sequence[int] | np.ndarray
) -> pd.DataFrame:
    """The distributions that points stand for: readings in each bin of demand.

    Bins without a reading are left out. A point that is a whole week has a distribution for every
    slot.

    Parameters
    ----------
    dataset : Dataset
        Whose households the points are named by.
    cube : Cube
        The counts that the run was made of.
    rows : sequence of int
        Points of the run.

    Returns
    -------
    DataFrame
        ``label``, ``household``, ``slot`` and ``time`` where there is one, ``bin``, ``above_kwh``
        and ``up_to_kwh`` (its edges; infinite for the open ones), ``readings`` and their
        ``share``.
    """
    edges = np.concatenate([[-np.inf], cube.edges, [np.inf]])
    frames = []
    for row in np.asarray(rows, np.int64):
        counts, slots = _counts(run, dataset, cube, int(row))
        places, bins = np.nonzero(counts)
        readings = counts[places, bins].astype(np.int64)
        columns: dict[str, object] = {
            "label": run.units["label"].iat[row],
            "household": run.units["household"].iat[row],
        }
        if slots is not None:
            columns["slot"] = slots[places]
            columns["time"] = np.array(slot_labels(slots, cube.interval_minutes), object)[places]
        columns |= {
            "bin": bins + 1,
            "above_kwh": edges[bins],
            "up_to_kwh": edges[bins + 1],
            "readings": readings,
            "share": readings / counts.sum(axis=1)[places],
        }
        frames.append(pd.DataFrame(columns, index=range(len(bins))))
    if not frames:
        return distribution_table(run, dataset, cube, [0]).head(0)
    table = pd.concat(frames, ignore_index=True)
    return table.astype({name: "str" for name in ("label", "household", "time") if name in table})


def _counts(
    run: Run, dataset: Dataset, cube: Cube, row: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Counts (blocks, bins) behind a point, and the slot of every block if it has one."""
    config, unit = run.config, run.units.iloc[row]
    place = np.searchsorted(cube.households, dataset.code(unit["household"]))
    counts = cube.counts[[place]]
    slots = (
        np.arange(cube.n_slots)
        if config.slots is None
        else parse_slots(config.slots, cube.interval_minutes)
    )
    if config.unit == "households":
        return counts[0, slots].sum(axis=0, keepdims=True, dtype=np.int64), None
    if "slot" in unit:
        slots = np.array([unit["slot"]], np.int64)
    return window_sum(counts, slots, config.window, dtype=np.int64)[0], slots
