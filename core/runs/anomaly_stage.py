"""The anomalies of a run's households, kept in the store.

They depend on the households and the period alone, so that all maps of them share one result.
"""

from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd

from core.anomalies import Anomalies, Finding, find_anomalies
from core.anomalies.options import RESAMPLES, THRESHOLD, TOP
from core.progress import Progress, silent
from core.readings import Dataset
from core.runs.config import RunConfig
from core.runs.kept_results import get_or_compute
from core.runs.store import StageResult, Store, make_digest

STAGE = "anomalies"
# To be raised whenever detectors judge the same readings otherwise.
VERSION = 3

# A point of these units is a household.
UNITS = ("profiles", "households")

_FINDING = "finding_"
_OPTIONS = {option.name: option.default for option in (TOP, THRESHOLD, RESAMPLES)}


def anomaly_digest(dataset: Dataset, config: RunConfig, **options: Any) -> str:
    """What the anomalies of a config's households are known by in the store."""
    codes = config.households and sorted(dataset.code(name) for name in config.households)
    inputs = {
        "version": VERSION,
        "dataset": dataset.digest,
        "households": codes,
        "period": config.period.to_json(),
        "seed": config.seed,
        **_OPTIONS,
        **options,
    }
    return make_digest(inputs)


def stored_anomalies(dataset: Dataset, config: RunConfig, store: Store) -> Anomalies | None:
    """Return the anomalies of a config's households, or None if they are not stored."""
    entry = store.get(STAGE, anomaly_digest(dataset, config))
    return None if entry is None else unpack_anomalies(entry)


def keep_anomalies(
    dataset: Dataset,
    config: RunConfig,
    store: Store,
    *,
    progress: Progress = silent,
    **options: Any,
) -> Anomalies:
    """Return the anomalies of a config's households, computed and stored if need be.

    ``options`` are ``top``, ``threshold`` and ``resamples`` of `find_anomalies`.
    """

    def compute() -> StageResult:
        return pack_anomalies(
            find_anomalies(dataset, config, seed=config.seed, progress=progress, **options)
        )

    digest = anomaly_digest(dataset, config, **options)
    return unpack_anomalies(get_or_compute(store, STAGE, digest, compute, progress=progress))


def pack_anomalies(found: Anomalies) -> StageResult:
    """Tables; of the findings, texts and numbers as a table and series as arrays."""
    findings = list(found.findings.values())
    arrays, columns = {}, {"household": list(found.findings)}
    for name in [field.name for field in fields(Finding)] if findings else []:
        values = [getattr(finding, name) for finding in findings]
        if isinstance(values[0], np.ndarray) and values[0].ndim:
            arrays[_FINDING + name] = np.stack(values)
        else:
            columns[name] = values
    return StageResult(
        arrays,
        tables={
            "table": found.table,
            "tails": found.tails.rename_axis("household").reset_index(),
            "findings": pd.DataFrame(columns),
        },
        facts={"left_out": found.left_out, "notices": found.notices},
    )


def unpack_anomalies(entry: StageResult) -> Anomalies:
    """Undo :func:`pack_anomalies`."""
    arrays = {name.removeprefix(_FINDING): array for name, array in entry.arrays.items()}
    findings = {}
    for row, told in enumerate(entry.tables["findings"].to_dict("records")):
        values: dict[str, Any] = {name: array[row] for name, array in arrays.items()}
        household = told.pop("household")
        for name, value in told.items():
            is_date = isinstance(value, pd.Timestamp) or value is pd.NaT
            values[name] = pd.Timestamp(value).to_datetime64().astype("M8[D]") if is_date else value
        findings[household] = Finding(**values)
    return Anomalies(
        table=entry.tables["table"],
        findings=findings,
        tails=entry.tables["tails"].set_index("household").rename_axis(None),
        left_out=tuple(entry.facts["left_out"]),
        notices=tuple(entry.facts["notices"]),
    )
