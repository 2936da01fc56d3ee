"""Anomalies as they come back from the store."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from core.anomalies import Finding, find_anomalies
from core.readings import Dataset
from core.runs import RunConfig, Store
from core.runs.anomaly_stage import anomaly_digest, keep_anomalies, stored_anomalies


@pytest.fixture(scope="module")
def dataset(demo_path):
    return Dataset.open(demo_path)


def test_anomalies_come_back_from_the_store_as_they_were_found(dataset, tmp_path):
    config, store = RunConfig(), Store(tmp_path)
    assert stored_anomalies(dataset, config, store) is None
    keep_anomalies(dataset, config, store)
    kept = stored_anomalies(dataset, config, store)
    found = find_anomalies(dataset, config, seed=config.seed)
    pd.testing.assert_frame_equal(kept.table, found.table, check_dtype=False)
    pd.testing.assert_frame_equal(kept.tails, found.tails, check_index_type=False)
    assert list(kept.findings) == list(found.findings)
    assert len(found.findings) > 1
    assert any(np.isnat(finding.since) for finding in found.findings.values())
    for household, finding in found.findings.items():
        for field in fields(Finding):
            value, other = (
                getattr(each, field.name) for each in (finding, kept.findings[household])
            )
            np.testing.assert_array_equal(value, other)
    assert (kept.left_out, kept.notices) == (found.left_out, found.notices)


def test_they_depend_on_households_and_period_and_not_on_the_map(dataset):
    def digest(**changes):
        return anomaly_digest(dataset, RunConfig(**changes))

    names = dataset.households["household"].tolist()
    assert digest() == digest(method="umap", k=7, distance="hellinger", unit="households")
    assert digest() != digest(first_day="2009-08-01")
    assert digest() != digest(households=tuple(names[:30]))
    config = RunConfig()
    assert anomaly_digest(dataset, config, top=20) == digest()
    assert anomaly_digest(dataset, config, top=7) != digest()
    assert anomaly_digest(dataset, config, threshold=0.2) != digest()
    assert anomaly_digest(dataset, config, resamples=0) != digest()
