"""What a study was asked and what it found, in words."""

from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pandas as pd
from markupsafe import Markup

from core.embedding import METHODS
from core.study.study_runs import Study
from core.study.study_tables import search_table, trustworthiness_table

PACKAGES = (
    "wattfold",
    "annoy",
    "hnswlib",
    "matplotlib",
    "numba",
    "numpy",
    "openTSNE",
    "pandas",
    "pyarrow",
    "pynndescent",
    "scikit-learn",
    "scipy",
    "umap-learn",
)

# The measures as a reader of HTML sees them.
MEASURE_TITLES = {
    "trustworthiness": "Trust",
    "continuity": "Continuity",
    "lcmc": "LCMC",
    "q_nx": Markup("Q<sub>NX</sub>"),
    "r_nx": Markup("R<sub>NX</sub>"),
    "mrre_n": Markup("1 − W<sub>n</sub>"),
    "mrre_v": Markup("1 − W<sub>ν</sub>"),
    "procrustes": "Procrustes",
}

_NAMED = 12


def title(study: Study) -> str:
    """Return the study's title."""
    n, config = study.featured.n, study.plan.config
    if config.unit == "slots":
        return f"The week of household {_household(study)}"
    return {
        "profiles": f"The weeks of {n:,} households",
        "households": f"The demand of {n:,} households",
        "household-slots": f"{n:,} times of the week in "
        f"{study.featured.units['household'].nunique():,} households",
    }[config.unit]


def subtitle(study: Study) -> str:
    """Say in a line what was compared."""
    methods, searches = len(study.plan.methods), len(study.plan.searches)
    return (
        f"{methods} manifold {_plural('method', methods)} on the neighbours of "
        f"{searches} {_plural('search', searches)}, {study.featured.n:,} points"
    )


def featured(study: Study) -> str:
    """Say which map the points are looked at on, and how they are ranked."""
    config = study.featured.config
    by = {
        "density": "density on the map",
        "isolation": "the distance to their K-th neighbour",
        "surprise": "how unlike similar points they are",
    }[config.rank_by]
    search = search_phrase(study, study.featured_cell.search)
    return (
        f"Points are ranked by {by}. The figures look at one map, that of "
        f"{METHODS[config.method].title} on the neighbours by {search}: its densest points are "
        "the most typical. The most anomalous are those that most maps agree on."
    )


def asked(study: Study) -> list[tuple[str, str]]:
    """What was asked: terms and what they are, for a list."""
    config, run, dataset = study.plan.config, study.featured, study.dataset
    households = dataset.households
    first, last = day(households["first"].min()), day(households["last"].max())
    readings = int(households["accepted"].sum())
    facts = [
        (
            "Data",
            f"{dataset.path.resolve().name}: {len(households):,} households, {readings:,} readings "
            f"of {dataset.interval_minutes} minutes, {first} to {last}",
        ),
        ("Points", f"{run.n:,}. {_unit(study)}"),
    ]
    if config.households is not None:
        facts.append(("Households", f"{len(config.households):,} chosen"))
    if not config.period.is_whole:
        facts.append(("Period", str(config.period)))
    if config.slots is not None:
        facts.append(("Times", config.slots))
    if len(run.left_out):
        facts.append(("Left out", _left_out(run.left_out, config.unit)))
    whose = "the whole dataset" if config.reference == "dataset" else "the chosen households"
    searches = [search_phrase(study, search) for search in study.plan.searches]
    merged = "" if run.n_bins == config.bins else f" ({config.bins} less those that coincide)"
    facts += [
        (
            "Distributions",
            f"{run.n_bins} bins{merged}, each with the same share of the readings of {whose}"
            + (f"; a slot takes in {config.window} on either side" if config.window else ""),
        ),
        ("Distance", _DISTANCES[config.distance]),
        ("Sample", _sample(run.units["m"], config.minimum_sample)),
        ("Neighbours", f"K = {config.k}, by {_enumerate(searches)}"),
        (
            "Methods",
            _enumerate([METHODS[method].title for method in study.plan.methods])
            + f", in {config.dim} {_plural('dimension', config.dim)}, seed {config.seed}",
        ),
    ]
    return facts


def found(study: Study) -> list[str]:
    """What the study found: sentences made of its numbers."""
    table = trustworthiness_table(study)
    return [
        *_best_map(study, table),
        *_price_of_approximation(study, table),
        *_recall(study),
        *_agreement(study),
        *_failures(study),
    ]


def parameters(study: Study) -> list[tuple[str, str]]:
    """Every parameter of the common config, the searches and the methods."""
    plan = study.plan
    common = plan.config.to_json()
    for name in (
        "version",
        "neighbors",
        "neighbors_parameters",
        "method",
        "method_parameters",
        "quality",
    ):
        del common[name]
    if common["households"] is not None:
        common["households"] = f"{len(common['households']):,} chosen"
    rows = [("all runs", _settings({k: v for k, v in common.items() if v is not None}))]
    rows += [
        (plan.search_title(search), _settings(plan.search_settings(search)))
        for search in plan.searches
    ]
    rows += [
        (METHODS[method].title, _settings(plan.method_settings(method))) for method in plan.methods
    ]
    return rows


def day(date: datetime) -> str:
    """Return a date as ``9 July 2009``."""
    return f"{date.day} {date:%B %Y}"


def versions() -> str:
    """The packages that the numbers depend on, with their versions."""
    return ", ".join(f"{name} {found}" for name in PACKAGES if (found := _version_of(name)))


def _version_of(package: str) -> str | None:
    """The version of a package; None where it is not installed, as an extra may be."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


_DISTANCES = {
    "hellinger": "Hellinger",
    "tv": "total variation",
    "js": "square root of the Jensen–Shannon divergence",
}


def _unit(study: Study) -> str:
    minutes = study.dataset.interval_minutes
    slot = {30: "half-hour", 60: "hour"}.get(minutes, f"slot of {minutes} minutes")
    chosen = "the week" if study.plan.config.slots is None else "the chosen times"
    return {
        "profiles": f"Each is one household: a distribution of demand for every {slot} of {chosen}",
        "slots": f"Each is one {slot} of the week of household {_household(study)}",
        "households": f"Each is one household's distribution of demand, pooled over {chosen}",
        "household-slots": f"Each is one {slot} of the week of one household",
    }[study.plan.config.unit]


def _household(study: Study) -> str:
    return str(study.featured.units["household"].iat[0])


def _left_out(left_out: pd.DataFrame, unit: str) -> str:
    parts = []
    for reason, group in left_out.groupby("reason"):
        shown = ", ".join(group["label"].head(_NAMED))
        more = f" and {len(group) - _NAMED:,} more" if len(group) > _NAMED else ""
        parts.append(f"{len(group):,} {unit} with {reason}: {shown}{more}")
    return "; ".join(parts)


def _sample(m: pd.Series, minimum: int) -> str:
    least, most = m.min(), m.max()
    several = f"{least:,} to {most:,} readings a point (median {m.median():,.0f})"
    return (
        f"{f'{least:,} readings a point' if least == most else several}; "
        f"points with fewer than {minimum} are left out"
    )


def search_phrase(study: Study, search: str) -> str:
    """Return a search as it stands within a sentence."""
    title = study.plan.search_title(search)
    return (
        "exact search" if search == "exact" else title.replace("k-d", "k\N{NON-BREAKING HYPHEN}d")
    )


def _best_map(study: Study, table: pd.DataFrame) -> list[str]:
    best_of = table.max(axis=1).dropna()
    if best_of.empty:
        return []
    method, worst = best_of.idxmax(), best_of.idxmin()
    search = study.plan.searches[int(np.nanargmax(table.loc[method]))]
    sentence = (
        f"{method} keeps neighbourhoods best, with a trustworthiness of {best_of[method]:.3f} "
        f"by {search_phrase(study, search)}"
    )
    if worst != method:
        sentence += f"; {worst} does worst, with at most {best_of[worst]:.3f}"
    return [sentence + "."]


def _price_of_approximation(study: Study, table: pd.DataFrame) -> list[str]:
    plan = study.plan
    approximate = [search for search in plan.searches if search not in ("exact", "kdtree-exact")]
    if "exact" not in plan.searches or not approximate:
        return []
    columns = [plan.search_title(search) for search in approximate]
    change = table[columns].sub(table[plan.search_title("exact")], axis=0).to_numpy()
    if np.isnan(change).all():
        return []
    row, column = np.unravel_index(np.nanargmax(np.abs(change)), change.shape)
    most = change[row, column]
    if abs(most) < 0.0005:
        return ["Approximate neighbours leave trustworthiness as it is, to three decimals."]
    sign = "−" if most < 0 else "+"
    return [
        "Approximate neighbours change trustworthiness by "
        f"{np.nanmean(np.abs(change)):.3f} on average, and at most by {sign}{abs(most):.3f} "
        f"({table.index[row]}, {search_phrase(study, approximate[column])})."
    ]


def _recall(study: Study) -> list[str]:
    table = search_table(study)
    same, found = [], []
    for search in study.plan.searches:
        graphs = table[table["neighbours by"] == study.plan.search_title(search)]
        if search == "exact" or graphs.empty:
            continue
        if (graphs["same list"] == 1).all():
            same.append(search_phrase(study, search))
        elif graphs["recall"].notna().any():
            recall = graphs["recall"].iat[0]
            found.append(f"{recall:.3f} by {search_phrase(study, search)}")
    sentences = []
    if same:
        sentences.append(
            f"The very neighbours of exact search were found by {_enumerate(same)}, so that the "
            "maps are the same."
        )
    if found:
        sentences.append(f"Of the true neighbours, the share found is {_enumerate(found)}.")
    return sentences


def _agreement(study: Study) -> list[str]:
    agreed = study.agreed_anomalies()
    maps = len(study.runs)
    if not agreed or maps < 2:
        return []
    labels = study.featured.units["label"]
    top = [point for point, count, _ in agreed if count > maps / 2]
    if not top:
        return ["No point is among the anomalies of more than half of the maps."]
    named = _enumerate([str(labels.iat[point]) for point in top[:10]])
    return [
        f"{len(top)} of {len(agreed)} points that any map calls anomalous are so on more than "
        f"half of the {maps} maps: {named}" + (" and others." if len(top) > 10 else ".")
    ]


def _failures(study: Study) -> list[str]:
    failed = [cell for cell in study.cells if cell.run is None]
    return [f"{len(failed)} of {len(study.cells)} runs failed; see the notices."] if failed else []


def _settings(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items()) or "no parameters"


def _enumerate(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _plural(noun: str, count: int) -> str:
    if count == 1:
        return noun
    return noun + ("es" if noun.endswith("ch") else "s")
