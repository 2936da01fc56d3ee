"""The health report as sentences and tables."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from core.readings import Dataset
from core.readings.accounts import dataset_accounts, decisions
from core.readings.coverage import PooledCoverage
from core.runs.overview import Overview, ReferenceDistribution

UNIT_NAMES = {"profiles": "by their whole week", "households": "pooled over the week"}

# What was done to readings that are accepted or collapsed, as the health report counts it.
_REMARKS = {
    "conflicting_duplicates": "of the collapsed have another value than the one kept",
    "moved_out_of_the_hour_before": "moved into the hour that clocks skip in spring",
    "second_readings_of_a_repeated_hour": "kept as second readings of the hour that clocks repeat",
    "without_household": "name no household",
}


def facts(dataset: Dataset) -> list[tuple[str, str]]:
    """Return names and values of what is known of a dataset without reading it all."""
    households = dataset.households
    first, last = households["first"].min(), households["last"].max()
    days = (last.floor("D") - first.floor("D")).days + 1
    return [
        ("Households", f"{len(households):,}"),
        ("Readings", f"{dataset.health['accepted']:,}"),
        ("Missing", _percent(households["missing_share"].mean())),
        ("Period", f"{_day(first)} – {_day(last)}"),
        ("Days", f"{days:,}"),
        ("Interval", f"{dataset.interval_minutes} min"),
        ("Time zone", dataset.manifest.get("timezone") or "not given"),
    ]


def account(health: Mapping[str, Any]) -> pd.DataFrame:
    """Return what became of the readings: ``what``, ``readings``, ``share`` of the input in %."""
    rows = [("Accepted", health["accepted"]), ("Collapsed, duplicates", health["collapsed"])]
    rows += [
        (f"Rejected, {reason}", count) for reason, count in health["rejected_by_reason"].items()
    ]
    if not health["rejected_by_reason"]:
        rows.append(("Rejected", health["rejected"]))
    rows.append(("Input", health["input"]))
    table = pd.DataFrame(rows, columns=["what", "readings"])
    return table.assign(share=100 * table["readings"] / max(health["input"], 1))


def examples(health: Mapping[str, Any]) -> pd.DataFrame:
    """Return the first readings that were rejected: ``reason``, ``file``, ``line``, ``text``."""
    rows = [
        {"reason": reason, **example}
        for reason, found in health["examples"].items()
        for example in found
    ]
    return pd.DataFrame(rows, columns=["reason", "file", "line", "text"])


def reading(dataset: Dataset) -> str:
    """Return how the files were read, and why so, one decision per line."""
    told = decisions(dataset_accounts(dataset))
    return "\n".join(f"{name[0].upper()}{name[1:]}: {text}" for name, text in told.items())


def remarks(health: Mapping[str, Any]) -> list[str]:
    """Return what else is worth knowing of the readings."""
    counted = [f"{health[name]:,} {words}" for name, words in _REMARKS.items() if health.get(name)]
    return [*counted, *health["notices"]]


def household_accounts(dataset: Dataset) -> pd.DataFrame:
    """Return the account of every household, with what is missing of its readings, in %."""
    table = dataset.households
    return pd.DataFrame(
        {
            "household": table["household"].astype("str"),
            "missing": 100 * table["missing_share"],
            "first": table["first"].dt.strftime("%Y-%m-%d").fillna("–"),
            "last": table["last"].dt.strftime("%Y-%m-%d").fillna("–"),
            "accepted": table["accepted"],
            "collapsed": table["collapsed"],
            "rejected": table["rejected"],
        }
    )


def left_out_text(overview: Overview, households: int) -> str:
    """Say how many households maps do not show."""
    counts = overview.left_out["unit"].value_counts()
    if not len(counts):
        return "None: with the usual settings, maps show every household."
    told = [
        f"{counts[unit]:,} of {households:,} on maps of households {name}"
        for unit, name in UNIT_NAMES.items()
        if unit in counts
    ]
    return " · ".join(told) + ", with the usual settings."


def bins_text(reference: ReferenceDistribution, drawn: np.ndarray) -> str:
    """Say how many bins there are, what they hold, and what the picture does not show.

    Parameters
    ----------
    drawn : ndarray of bool, shape (n_bins,)
        Which bins are in the picture.
    """
    merged = left_off = ""
    if not drawn.all():
        at = [*reference.edges, reference.highest][np.flatnonzero(~drawn)[0]]
        left_off = (
            f" Not drawn: the bin at {at:g} kWh, with {_percent(reference.share[~drawn].sum())} of "
            "the readings."
        )
    if reference.n_bins < reference.bins:
        merged = f" of {reference.bins} asked for; the other edges coincide"
    return (
        f"{reference.n_bins} bins{merged}, from {reference.readings.sum():,} readings between "
        f"{reference.lowest:g} and {reference.highest:g} kWh. A box is a bin, and its area the "
        f"share of readings in it.{left_off}"
    )


def pooling_text(pooled: PooledCoverage) -> str:
    """Say what a cell of the coverage map stands for."""
    pools = [
        f"{each:,} {what}"
        for each, what in ((pooled.households_each, "households"), (pooled.days_each, "days"))
        if each > 1
    ]
    if not pools:
        return "One row per household, one column per day."
    return f"Each cell pools {' × '.join(pools)}: zoom in to see them one by one."


def _percent(share: float) -> str:
    return "under 0.1 %" if 0 < share < 0.001 else f"{100 * share:.1f} %"


def _day(time: pd.Timestamp) -> str:
    return f"{time.day} {time:%b %Y}"
