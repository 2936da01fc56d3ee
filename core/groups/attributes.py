"""Which attributes are more, or less, frequent in one group than in another."""

from collections.abc import Collection

import numpy as np
import pandas as pd

# Beyond so many values a column of texts names households rather than kinds of them.
MOST_VALUES = 50

_COLUMNS = ("attribute", "value", "first", "second", "p", "q")


def compare_attributes(
    first: pd.DataFrame, second: pd.DataFrame, *, without: Collection[str] = ()
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Compare the metadata of two groups, one column after the other.

    Parameters
    ----------
    first, second : DataFrame
        One row per household.
    without : collection of str
        Columns that made the groups.

    Returns
    -------
    table : DataFrame
        ``attribute``, ``value``, its share in the ``first`` and the ``second`` group (the median,
        for numbers), ``p`` (Fisher's exact test; Mann and Whitney's for numbers), ``q``; the
        clearest difference first.
    notices : tuple of str
        Columns that say nothing, and why.
    """
    from scipy.stats import false_discovery_control, fisher_exact, mannwhitneyu

    rows: list[tuple[object, ...]] = []
    notices = []
    for name in first.columns:
        if name in without:
            continue
        one, two = first[name].dropna(), second[name].dropna()
        if one.empty or two.empty:
            continue
        values = pd.concat([one, two])
        if _is_number(values) and values.nunique() > 6:
            p = mannwhitneyu(one, two).pvalue
            rows.append((name, "median", float(one.median()), float(two.median()), float(p)))
            continue
        if values.nunique() > MOST_VALUES:
            notices.append(
                f"attribute {str(name)!r} has {values.nunique():,} different values and is not "
                "compared"
            )
            continue
        texts_one, texts_two = one.astype("str"), two.astype("str")
        for value in sorted(set(texts_one) | set(texts_two)):
            hits = np.array([(texts_one == value).sum(), (texts_two == value).sum()])
            sizes = np.array([len(one), len(two)])
            if hits.sum() in (0, sizes.sum()):
                continue
            p = fisher_exact(np.array([hits, sizes - hits])).pvalue
            rows.append((name, value, *(hits / sizes).tolist(), float(p)))
    table = pd.DataFrame(rows, columns=list(_COLUMNS[:-1]))
    q = false_discovery_control(table["p"].to_numpy(float)) if len(table) else []
    return table.assign(q=q).sort_values(["p", "attribute"], ignore_index=True), tuple(notices)


def _is_number(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
