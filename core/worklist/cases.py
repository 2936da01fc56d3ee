"""The worklist beside the anomalies: one table, its worth, and how often the list was right."""

import pandas as pd

from core.anomalies import Anomalies
from core.errors import InputError
from core.worklist.flags import Worklist
from core.worklist.verdicts import is_decided, is_hit

WEEKS_PER_YEAR = 52.18


def money_text(value: float, currency: str = "") -> str:
    """Write a sum with its sign and currency, as people do: ``−£552``."""
    return f"{'−' if value < 0 else '+'}{currency}{abs(value):,.0f}"


def case_table(
    worklist: Worklist, anomalies: Anomalies | None = None, *, price: float | None = None
) -> pd.DataFrame:
    """Return one row per household on the list.

    Parameters
    ----------
    worklist : Worklist
    anomalies : Anomalies, optional
        Adds all columns of its table, see ``wattfold anomalies``.
    price : float, optional
        Of a kWh; adds ``money_per_year``, what ``kwh_per_week`` comes to.

    Returns
    -------
    DataFrame
        ``household``, ``verdict``, ``note``, ``by``, ``at``, ``disputed``, ``history`` (all that
        was said, in the order of time), then what is known of the anomaly; the most unusual first.
    """
    if price is not None and not 0 < price < float("inf"):
        raise InputError(f"a price is a number above 0, got {price:g}")
    rows = [
        {
            "household": case.household,
            "verdict": case.verdict,
            "note": case.note,
            "by": case.by,
            "at": case.at,
            "disputed": case.disputed,
            "history": "; ".join(
                f"{each.at[:16]} {each.by or 'somebody'}: {each.verdict or 'taken off'}"
                + (f" ({each.note})" if each.note else "")
                for each in case.flags
            ),
        }
        for case in worklist.cases().values()
    ]
    columns = ["household", "verdict", "note", "by", "at", "disputed", "history"]
    table = pd.DataFrame(rows, columns=columns)
    if anomalies is None:
        return table
    table = table.merge(anomalies.table, on="household", how="left")
    if price is not None:
        table["money_per_year"] = table["kwh_per_week"] * price * WEEKS_PER_YEAR
    return table.sort_values("rank", kind="stable", na_position="last", ignore_index=True)


def precision_by_detector(cases: pd.DataFrame) -> pd.DataFrame:
    """Return how often there was something to find, by the detector that spoke loudest.

    Parameters
    ----------
    cases : DataFrame
        Of :func:`case_table`, with anomalies.

    Returns
    -------
    DataFrame
        ``detector`` (the last row is ``all``), ``looked`` (households with a verdict), ``hits``
        (with another verdict than fine), ``precision``, and ``low`` and ``high``, its 95 % interval
        (Wilson).
    """
    decided = cases[cases["verdict"].map(is_decided).astype(bool)]
    hit = pd.Series([is_hit(verdict) for verdict in decided["verdict"]], decided.index, bool)
    named = decided["detector"].fillna("none")
    rows = []
    for name in [*sorted(named.unique()), "all"]:
        own = hit if name == "all" else hit[named == name]
        low, high = _wilson(int(own.sum()), len(own))
        rows.append(
            {
                "detector": name,
                "looked": len(own),
                "hits": int(own.sum()),
                "precision": float(own.mean()) if len(own) else float("nan"),
                "low": low,
                "high": high,
            }
        )
    return pd.DataFrame(rows)


def _wilson(hits: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share, which few observations do not take beyond 0 or 1."""
    from scipy.stats import binomtest

    if n == 0:
        return 0.0, 1.0
    interval = binomtest(hits, n).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)
