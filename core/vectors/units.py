"""What one point on the map is, and the counts behind it.

A unit's sample is a sum over the cube: over the slots of a window, or over the whole week. A row
of the vectors stacks one or more such samples, its *blocks*: one for every slot of a household's
profile, a single one for any other unit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.cube import Cube
from core.errors import InputError
from core.fields import FIELDS, UNITS, Unit
from core.readings import Dataset
from core.slots import check_slots, slot_labels

# A profile with a larger share of empty slots is left out.
MAXIMUM_EMPTY = 0.05


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of all units that are kept, and the names of those that are not.

    Attributes
    ----------
    cube : Cube
        The counts.
    unit : Unit
        What a point is.
    rows : ndarray of shape (households,)
        The chosen households' places in the cube.
    slots : ndarray of shape (slots,)
        The chosen slots, increasing.
    window : int
        How many slots on either side a slot's sample takes in.
    sizes : ndarray of int64, shape (households, slots), or (households, 1) for ``households``
        Readings in each sample.
    kept : ndarray of bool, shape (households,), or (households, slots) where a slot is a unit
        Which units have enough readings.
    units : DataFrame of n rows
        ``label``, ``household`` and, where the unit has one, ``slot`` of every unit kept.
    sample_size : ndarray of int64, shape (n,)
        How many readings stand behind each unit kept; each counts once.
    left_out : DataFrame
        ``label``, ``m`` and ``reason`` of every other unit.
    """

    cube: Cube
    unit: Unit
    rows: np.ndarray
    slots: np.ndarray
    window: int
    sizes: np.ndarray
    kept: np.ndarray
    units: pd.DataFrame
    sample_size: np.ndarray
    left_out: pd.DataFrame

    @property
    def block_sizes(self) -> np.ndarray:
        """The sample size of every block, (n, blocks)."""
        return self.sizes[self.kept].reshape(len(self.units), -1)

    def pooled_counts(self) -> np.ndarray:
        """Return the counts of every kept household over the chosen slots, (n, n_bins)."""
        pooled = np.empty((len(self.rows), self.cube.n_bins), dtype=np.int64)
        for row, place in enumerate(self.rows):
            pooled[row] = self.cube.counts[place, self.slots].sum(axis=0, dtype=np.int64)
        return pooled[self.kept]

    def week_counts(self, row: int) -> np.ndarray:
        """Return the counts of one kept household over the whole week, (n_bins,)."""
        return self.cube.counts[self.rows[self.kept][row]].sum(axis=0, dtype=np.int64)

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should know of the samples."""
        found = [
            f"{len(group)} of {self.kept.size} {self.unit} left out, {reason}: "
            + _enumerate(group["label"])
            for reason, group in self.left_out.groupby("reason")
        ]
        if self.unit == "profiles":
            empty = (self.block_sizes == 0).sum(axis=1)
            if empty.any():
                names = _enumerate(self.units["label"][empty > 0])
                found.append(
                    f"{empty.sum()} empty slots take their household's distribution over the "
                    f"week: {names}"
                )
            typical = np.median(self.block_sizes)
            if typical < FIELDS["minimum_sample"].default:
                found.append(
                    f"a slot has {typical:g} readings (median): distances between so small "
                    "samples are mostly chance; a wider window helps"
                )
        return tuple(found)


def choose_samples(
    cube: Cube,
    dataset: Dataset,
    *,
    unit: Unit = "profiles",
    window: int | None = None,
    households: Sequence[str] | None = None,
    household: str | None = None,
    slots: Sequence[int] | np.ndarray | None = None,
    minimum_sample: int = 20,
) -> Samples:
    """Choose the units of a map, with the options of :func:`core.vectors.make_vectors`."""
    if unit not in UNITS:
        raise InputError(f"there is no unit {unit!r}; choose one of {', '.join(UNITS)}")
    minimum = FIELDS["minimum_sample"].validate(minimum_sample)
    window = _check_window(cube, unit, window)
    slots = check_slots(slots, cube.interval_minutes)
    rows = _choose_rows(cube, dataset, unit, households, household)
    ids = dataset.households["household"].to_numpy(dtype=object)[cube.households[rows]]
    readings = cube.sample_sizes[rows]
    if unit == "households":
        sizes = readings[:, slots].sum(axis=1, keepdims=True)
    else:
        sizes = window_sum(readings, slots, window, dtype=np.int64)
    if unit in ("slots", "household-slots"):
        m = sizes
        everything = _name_slots(ids, slots, cube.interval_minutes, unit)
    else:
        m = readings[:, _within(slots, window, cube.n_slots)].sum(axis=1)
        everything = pd.DataFrame({"label": ids, "household": ids}, dtype="str")
    reason = np.where(m < minimum, f"fewer than {minimum} readings", "").astype(object)
    if unit == "profiles":
        empty = (sizes == 0).mean(axis=1) > MAXIMUM_EMPTY
        reason[empty & (m >= minimum)] = f"more than {MAXIMUM_EMPTY:.0%} of the slots empty"
    kept = reason == ""
    if not kept.any():
        cure = "choose other households or more slots, a wider window or a smaller minimum sample"
        if unit == "profiles" and m.max() >= minimum:
            cure = "let each point show a household's readings pooled, or " + cure
        raise InputError(
            f"none of {kept.size} {unit} can be shown ({', '.join(sorted(set(reason.flat)))}; "
            f"the largest sample has {m.max()} readings): {cure}"
        )
    out = ~kept.ravel()
    left_out = everything.loc[out, ["label"]].assign(m=m[~kept], reason=reason[~kept])
    return Samples(
        cube=cube,
        unit=unit,
        rows=rows,
        slots=slots,
        window=window,
        sizes=sizes,
        kept=kept,
        units=everything[~out].reset_index(drop=True),
        sample_size=m[kept],
        left_out=left_out.reset_index(drop=True),
    )


def window_sum(
    values: np.ndarray, slots: np.ndarray, window: int, *, dtype: np.typing.DTypeLike
) -> np.ndarray:
    """Sum the slots from s − window to s + window, cyclically over the week, for every s given.

    Parameters
    ----------
    values : ndarray of shape (households, week, …)
        Counts or sample sizes of all slots of the week.
    slots : ndarray of shape (slots,)
    window : int
    dtype : dtype
        Must hold every sum.

    Returns
    -------
    ndarray of shape (households, slots, …)
    """
    week = values.shape[1]
    total = values[:, (slots - window) % week].astype(dtype)
    for offset in range(1 - window, window + 1):
        total += values[:, (slots + offset) % week]
    return total


def _check_window(cube: Cube, unit: Unit, window: int | None) -> int:
    if not FIELDS["window"].applies_to(unit):
        if window:
            raise InputError(f"{unit} are pooled over the week and take no window; leave it out")
        return 0
    if window is None:
        return min(FIELDS["window"].default_of(unit), (cube.n_slots - 1) // 2)
    widest = (cube.n_slots - 1) // 2
    if isinstance(window, bool) or window != int(window) or not 0 <= window <= widest:
        raise InputError(f"window must be a whole number from 0 to {widest}, got {window!r}")
    return int(window)


def _choose_rows(
    cube: Cube,
    dataset: Dataset,
    unit: Unit,
    households: Sequence[str] | None,
    household: str | None,
) -> np.ndarray:
    """Return the chosen households' places in the cube, increasing."""
    if household is not None:
        if unit != "slots":
            raise InputError(
                f"one household is asked for, but a point is one of {unit}; "
                "choose unit slots or give households"
            )
        households = [household]
    if households is None:
        codes = cube.households
    else:
        codes = np.unique(np.array([dataset.code(name) for name in households], dtype=np.int64))
    if unit == "slots" and len(codes) != 1:
        raise InputError(
            f"unit slots shows one household, got {len(codes)}; "
            "name it with household or choose unit household-slots"
        )
    if not len(codes):
        raise InputError("no household is chosen; choose at least one")
    absent = ~np.isin(codes, cube.households)
    if absent.any():
        names = dataset.households["household"].iloc[codes[absent]]
        raise InputError(
            f"the cube was made of other households than {_enumerate(names)}; "
            "make one of the whole dataset, or of these"
        )
    return np.searchsorted(cube.households, codes)


def _name_slots(
    ids: np.ndarray, slots: np.ndarray, interval_minutes: int, unit: Unit
) -> pd.DataFrame:
    names = pd.Series(np.tile(np.array(slot_labels(slots, interval_minutes), object), len(ids)))
    owners = pd.Series(np.repeat(ids, len(slots)), dtype="str")
    label = names.astype("str") if unit == "slots" else owners + " " + names.astype("str")
    return pd.DataFrame({"label": label, "household": owners, "slot": np.tile(slots, len(ids))})


def _within(slots: np.ndarray, window: int, week: int) -> np.ndarray:
    """Return every slot that a window around one of the slots takes in, each once."""
    return np.unique((slots[:, None] + np.arange(-window, window + 1)) % week)


def _enumerate(names: pd.Series) -> str:
    shown = ", ".join(names.head(5))
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
