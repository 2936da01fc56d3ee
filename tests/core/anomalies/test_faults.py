import numpy as np
import pytest

from core.anomalies.faults import ATTACKS, FAULTS, SEVERITIES, plant
from core.errors import InputError

RECORD = np.random.default_rng(0).gamma(2, 0.2, size=(12, 336)).astype(np.float32)


def put(kind, severity="strong", onset="half", record=RECORD):
    return plant(record, kind, severity, onset, np.random.default_rng(1))


@pytest.mark.parametrize("kind", [*FAULTS, *ATTACKS])
@pytest.mark.parametrize("severity", SEVERITIES)
def test_days_before_the_onset_stay(kind, severity):
    planted = put(kind, severity)
    before, after = (
        record.reshape(-1, 48)[: planted.first_day] for record in (RECORD, planted.kwh)
    )
    np.testing.assert_array_equal(before, after)
    assert planted.first_day >= 42
    assert not np.array_equal(planted.kwh, RECORD)


@pytest.mark.parametrize("kind", [*FAULTS, *ATTACKS])
def test_gaps_stay(kind):
    record = RECORD.copy()
    record[3, 40:60] = np.nan
    assert np.isnan(put(kind, onset="whole", record=record).kwh[3, 40:60]).all()


def test_sizes():
    flat = RECORD.reshape(-1, 48)
    strong = {kind: put(kind, onset="whole").kwh.reshape(-1, 48) for kind in FAULTS}
    assert (strong["dead"] == 0).all()
    assert strong["stuck"] == pytest.approx(RECORD.mean(), rel=1e-5)
    np.testing.assert_allclose(strong["theft"], 0.3 * flat, rtol=1e-5)
    np.testing.assert_allclose(strong["charging"][:, :8], flat[:, :8] + 1.5, rtol=1e-5)
    np.testing.assert_allclose(strong["solar"][:, 26], 0.05 * flat[:, 26], rtol=1e-4)
    np.testing.assert_array_equal(strong["weekend"][5::7], flat[1::7])
    assert (strong["event"] - flat).sum() == pytest.approx(12 * 12 * 2.5, rel=1e-4)
    shifted = np.roll(flat.reshape(-1), 24)
    assert any(
        np.array_equal(strong["clock"].reshape(-1), np.roll(shifted, back)) for back in (0, -48)
    )


def test_slots_are_the_changed_ones():
    for kind in ("charging", "event", "weekend"):
        planted = put(kind, onset="whole")
        changed = np.flatnonzero((planted.kwh != RECORD).any(axis=0))
        np.testing.assert_array_equal(changed, np.sort(planted.slots))


def test_unknown_kinds_are_refused():
    with pytest.raises(InputError, match="choose one of dead"):
        put("gremlins")


@pytest.mark.parametrize("kind", [*FAULTS, *ATTACKS])
def test_gaps_stay_where_they_are(kind):
    kwh = np.random.default_rng(1).random((6, 336))
    kwh[2, 100:140] = np.nan
    planted = plant(kwh, kind, "strong", "whole", np.random.default_rng(2))
    np.testing.assert_array_equal(np.isnan(planted.kwh), np.isnan(kwh))
