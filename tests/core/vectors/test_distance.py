from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import integrate, special, stats
from scipy.spatial.distance import jensenshannon
from small_dataset import random_readings, write_dataset

from core.cube import build_cube
from core.errors import Cancelled, InputError
from core.slots import parse_slots, slot_label, slot_of
from core.vectors import Vectors, make_vectors, statistical_distance, window_sum


@pytest.fixture(scope="module")
def readings():
    """Three households of ten weeks, one of which starts late: its slots have unequal samples."""
    frame = random_readings(households=3, days=70)
    late = (frame["household"] == "H01") & (frame["time"] < "2024-01-10 05:00")
    return frame[~late].reset_index(drop=True)


@pytest.fixture(scope="module")
def dataset(readings, tmp_path_factory):
    return write_dataset(tmp_path_factory.mktemp("distance") / "d", readings)


@pytest.fixture(scope="module")
def cube(dataset):
    return build_cube(dataset, bins=12)


def probabilities(kwh: np.ndarray, edges: np.ndarray) -> np.ndarray:
    counts = [np.sum((low < kwh) & (kwh <= high)) for low, high in _intervals(edges)]
    return np.array(counts) / len(kwh)


def _intervals(edges):
    ends = [-np.inf, *edges, np.inf]
    return pairwise(ends)


def hellinger(p, q):
    return np.sqrt(np.sum((np.sqrt(p) - np.sqrt(q)) ** 2) / 2)


def total_variation(p, q):
    return np.sum(np.abs(p - q)) / 2


def root_js(p, q):
    return jensenshannon(p, q, base=2)


DISTANCES = {"hellinger": hellinger, "tv": total_variation, "js": root_js}


def slot_sample(readings, household, slot, window, week=336):
    """The readings of a slot and its neighbours, taken from the readings themselves."""
    own = readings[readings["household"] == household]
    away = (slot_of(own["time"].to_numpy(), 10080 // week) - slot) % week
    return own["kwh"].to_numpy()[(away <= window) | (away >= week - window)]


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("window", [0, 1, 3])
def test_slots_against_the_readings_themselves(readings, dataset, cube, distance, window):
    vectors = make_vectors(
        cube,
        dataset,
        unit="slots",
        household="H01",
        distance=distance,
        window=window,
        minimum_sample=1,
    )
    assert vectors.x.shape == (336, 12)
    assert vectors.x.dtype == np.float32
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 336, (30, 2))
    pairs[0] = 0, 335  # windows reach over the end of the week
    for a, b in pairs:
        first, second = (slot_sample(readings, "H01", slot, window) for slot in (a, b))
        expected = DISTANCES[distance](
            probabilities(first, cube.edges), probabilities(second, cube.edges)
        )
        assert statistical_distance(vectors, a, b) == pytest.approx(expected, abs=2e-6)
        assert vectors.sample_size[a] == len(first)


@pytest.mark.parametrize("distance", DISTANCES)
def test_households_pool_the_week(readings, dataset, cube, distance):
    vectors = make_vectors(cube, dataset, unit="households", distance=distance)
    own = [readings[readings["household"] == h]["kwh"].to_numpy() for h in ("H00", "H01", "H02")]
    assert vectors.sample_size.tolist() == [len(kwh) for kwh in own]
    assert vectors.units["label"].tolist() == ["H00", "H01", "H02"]
    p = [probabilities(kwh, cube.edges) for kwh in own]
    for a in range(3):
        for b in range(3):
            expected = DISTANCES[distance](p[a], p[b])
            assert statistical_distance(vectors, a, b) == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("distance", DISTANCES)
def test_profiles_add_up_slot_by_slot(readings, dataset, cube, distance):
    vectors = make_vectors(cube, dataset, unit="profiles", distance=distance, window=1)
    assert vectors.blocks == 336
    assert vectors.x.shape == (3, 336 * 12)
    per_slot = []
    for slot in range(336):
        p, q = (
            probabilities(slot_sample(readings, household, slot, 1), cube.edges)
            for household in ("H00", "H01")
        )
        per_slot.append(DISTANCES[distance](p, q))
    per_slot = np.array(per_slot)
    expected = {
        "tv": np.sum(per_slot),
        "hellinger": np.sqrt(np.sum(per_slot**2)),
        "js": np.sum(per_slot**2),
    }[distance]
    assert statistical_distance(vectors, 0, 1) == pytest.approx(expected, rel=1e-5)


def test_household_slots_are_the_slots_of_each_household(dataset, cube):
    together = make_vectors(cube, dataset, unit="household-slots", households=["H02", "H00"])
    apart = [
        make_vectors(cube, dataset, unit="slots", household=household)
        for household in ("H00", "H02")
    ]
    np.testing.assert_array_equal(together.x, np.concatenate([v.x for v in apart]))
    np.testing.assert_array_equal(
        together.sample_size, np.concatenate([v.sample_size for v in apart])
    )
    assert together.units["slot"].tolist() == list(range(336)) * 2
    assert together.units["household"].tolist() == ["H00"] * 336 + ["H02"] * 336
    assert together.units["label"][336 + 36] == "H02 Mon 18:00–18:30"
    assert apart[1].units["label"][36] == "Mon 18:00–18:30"


def test_defaults_by_unit(dataset, cube):
    assert make_vectors(cube, dataset).distance == "tv"
    assert make_vectors(cube, dataset, unit="households").distance == "hellinger"
    one = make_vectors(cube, dataset, unit="slots", household="H00")
    pooled = make_vectors(cube, dataset, unit="slots", household="H00", window=1)
    np.testing.assert_array_equal(one.x, pooled.x)


def test_a_choice_of_slots_comes_after_the_window(dataset, cube):
    evenings = parse_slots("weekdays 17:00-24:00", 30)
    for unit in ("slots", "household-slots"):
        options = {"household": "H02"} if unit == "slots" else {}
        full = make_vectors(cube, dataset, unit=unit, window=2, **options)
        some = make_vectors(cube, dataset, unit=unit, window=2, slots=evenings[::-1], **options)
        places = full.units["slot"].isin(evenings).to_numpy()
        np.testing.assert_array_equal(some.x, full.x[places])
        assert some.units["label"].tolist() == full.units["label"][places].tolist()
    full = make_vectors(cube, dataset, distance="hellinger", window=2)
    some = make_vectors(cube, dataset, distance="hellinger", window=2, slots=evenings)
    blocks = full.x.reshape(3, 336, 12)[:, evenings]
    np.testing.assert_array_equal(some.x, blocks.reshape(3, -1))
    assert some.blocks == 70


def test_readings_behind_a_profile_count_once(dataset, cube):
    m = cube.sample_sizes[0]
    some = make_vectors(cube, dataset, slots=[3, 4, 335], window=1)
    assert some.sample_size[0] == m[[2, 3, 4, 5, 334, 335, 0]].sum()
    whole = make_vectors(cube, dataset)
    assert whole.sample_size.tolist() == cube.sample_sizes.sum(axis=1).tolist()


def test_households_of_some_slots_pool_just_those(readings, dataset, cube):
    weekend = parse_slots("weekend", 30)
    vectors = make_vectors(cube, dataset, unit="households", slots=weekend, distance="js")
    own = readings[(readings["household"] == "H00") & (readings["time"].dt.day_of_week >= 5)]
    np.testing.assert_allclose(
        vectors.x[0], probabilities(own["kwh"].to_numpy(), cube.edges), rtol=1e-6
    )


@pytest.mark.parametrize("interval", [15, 60])
def test_other_intervals(tmp_path, interval):
    frame = random_readings(households=2, days=28, interval_minutes=interval)
    dataset = write_dataset(tmp_path / "d", frame, interval_minutes=interval)
    cube = build_cube(dataset, bins=8)
    week = 10080 // interval
    vectors = make_vectors(
        cube, dataset, unit="slots", household="H00", distance="js", minimum_sample=12
    )
    assert len(vectors.units) == week
    assert vectors.units["label"].iloc[-1] == slot_label(week - 1, interval)
    expected = probabilities(slot_sample(frame, "H00", 0, 1, week), cube.edges)
    np.testing.assert_allclose(vectors.x[0], expected, rtol=1e-6)


# Counts, float32 and float64


def test_counts_serve_where_samples_have_one_size(tmp_path):
    dataset = write_dataset(tmp_path / "d", random_readings(households=4, days=70))
    cube = build_cube(dataset, bins=30)
    counts = make_vectors(cube, dataset, window=1)
    assert counts.x.dtype == np.uint8
    np.testing.assert_allclose(counts.block_weights, 1 / 30)
    p = np.asarray(make_vectors(cube, dataset, window=1, distance="js").x)
    assert p.dtype == np.float32
    as_float32 = Vectors.from_array(p, distance="tv", blocks=336)
    exact = counts.x.astype(float) * np.repeat(counts.block_weights, 30)
    as_float64 = Vectors.from_array(exact, distance="tv", blocks=336)
    a, b = np.triu_indices(4, 1)
    by_counts = statistical_distance(counts, a, b)
    np.testing.assert_allclose(by_counts, statistical_distance(as_float64, a, b), rtol=1e-13)
    np.testing.assert_allclose(by_counts, statistical_distance(as_float32, a, b), rtol=1e-6)


def test_counts_of_households_need_wider_integers(tmp_path):
    dataset = write_dataset(tmp_path / "d", random_readings(households=2, days=70))
    vectors = make_vectors(build_cube(dataset, bins=3), dataset, unit="households", distance="tv")
    assert vectors.x.dtype == np.uint16
    assert vectors.x.sum(axis=1).tolist() == [70 * 48] * 2
    assert vectors.block_weights.tolist() == [1 / (70 * 48)]


def test_pooled_counts_do_not_wrap(tmp_path):
    times = pd.date_range("2020-01-06", periods=7 * 48 * 100, freq="30min")
    frame = pd.DataFrame({"household": "A", "time": times, "kwh": 0.5})
    dataset = write_dataset(tmp_path / "d", frame, row_group_size=10**6)
    cube = build_cube(dataset, bins=4)
    assert cube.counts.dtype == np.uint8
    vectors = make_vectors(cube, dataset, unit="slots", household="A", distance="tv", window=5)
    assert vectors.x.dtype == np.uint16
    assert vectors.x[:, 0].tolist() == [1100] * 336
    assert vectors.sample_size.tolist() == [1100] * 336
    probability = make_vectors(cube, dataset, unit="slots", distance="js", window=167)
    assert probability.x[:, 0].tolist() == [1.0] * 336
    assert probability.sample_size[0] == 33500


def test_unequal_samples_are_compared_as_probabilities(dataset, cube):
    vectors = make_vectors(cube, dataset, distance="tv")
    assert vectors.x.dtype == np.float32
    assert vectors.block_weights is None
    sums = vectors.x.reshape(3, 336, 12).sum(axis=2)
    np.testing.assert_allclose(sums, 1, rtol=1e-6)


def test_pairs_do_not_depend_on_each_other(dataset, cube, monkeypatch):
    vectors = make_vectors(cube, dataset, unit="household-slots", distance="js")
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, len(vectors.x), (2, 500))
    together = statistical_distance(vectors, a, b)
    monkeypatch.setattr("core.vectors.distance._PAIR_CELLS", 37)
    np.testing.assert_array_equal(statistical_distance(vectors, a, b), together)
    table = statistical_distance(vectors, a[:5, None], b[None, :7])
    assert table.shape == (5, 7)
    np.testing.assert_array_equal(table.diagonal(), together[:5])


# Units that are left out


def sparse_dataset(path, missing: int, household_weeks: int = 30):
    """Household A whole; B without its first ``missing`` slots; C with a few readings only."""
    times = pd.date_range("2024-01-01", periods=336 * household_weeks, freq="30min")
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"time": times, "kwh": np.round(rng.gamma(2, 0.2, len(times)), 3)})
    gap = slot_of(times.to_numpy(), 30) >= missing
    parts = [frame.assign(household="A"), frame[gap].assign(household="B")]
    parts.append(frame.head(10).assign(household="C"))
    return write_dataset(path, pd.concat(parts, ignore_index=True))


def test_small_units_are_left_out_and_named(tmp_path):
    dataset = sparse_dataset(tmp_path / "d", missing=4)
    vectors = make_vectors(build_cube(dataset), dataset, unit="household-slots", window=0)
    assert len(vectors.units) == 336 + 332
    assert len(vectors.left_out) == 4 + 336
    assert vectors.left_out["label"][0] == "B Mon 00:00–00:30"
    assert vectors.left_out["m"].tolist() == [0] * 4 + [1] * 10 + [0] * 326
    assert vectors.sample_size.min() == 30
    (notice,) = vectors.notices
    assert notice.startswith("340 of 1008 household-slots left out, fewer than 20 readings")
    assert "and 335 more" in notice


def test_empty_slots_of_a_profile_take_the_pooled_distribution(tmp_path):
    dataset = sparse_dataset(tmp_path / "d", missing=10)
    cube = build_cube(dataset, bins=10)
    vectors = make_vectors(cube, dataset, window=1, distance="js")
    assert vectors.units["label"].tolist() == ["A", "B"]
    assert vectors.left_out.to_dict("records") == [
        {"label": "C", "m": 10, "reason": "fewer than 20 readings"}
    ]
    assert vectors.filled_slots == 8  # the gap's ends still see a neighbour
    blocks = vectors.x.reshape(2, 336, 10)
    pooled = cube.counts[1].sum(axis=0) / cube.counts[1].sum()
    np.testing.assert_allclose(blocks[1, 1:9], np.tile(pooled, (8, 1)), rtol=1e-6)
    assert not np.allclose(blocks[1, 9], pooled, atol=1e-3)
    assert any("8 empty slots" in notice and "B" in notice for notice in vectors.notices)


def test_profiles_with_many_empty_slots_are_left_out(tmp_path):
    dataset = sparse_dataset(tmp_path / "d", missing=19)
    cube = build_cube(dataset, bins=10)
    kept = make_vectors(cube, dataset, window=1)  # 17 of 336 are empty: 5.06 %
    assert kept.units["label"].tolist() == ["A"]
    assert kept.left_out["reason"].tolist() == [
        "more than 5% of the slots empty",
        "fewer than 20 readings",
    ]
    assert make_vectors(cube, dataset, window=2).units["label"].tolist() == ["A", "B"]
    # The share is that of the chosen slots.
    later = make_vectors(cube, dataset, window=0, slots=np.arange(19, 336))
    assert later.units["label"].tolist() == ["A", "B"]


def test_a_short_history_is_said(tmp_path):
    dataset = write_dataset(tmp_path / "d", random_readings(households=3, days=14))
    vectors = make_vectors(build_cube(dataset), dataset)
    assert len(vectors.units) == 3
    assert any("6 readings (median)" in notice for notice in vectors.notices)


def test_tiny_data(tmp_path):
    frame = random_readings(households=1, days=1).head(1)
    dataset = write_dataset(tmp_path / "d", frame)
    cube = build_cube(dataset)
    with pytest.raises(InputError, match=r"none of 1 households .*1 readings"):
        make_vectors(cube, dataset, unit="households")
    one = make_vectors(cube, dataset, unit="households", minimum_sample=1)
    assert one.x.shape == (1, 2)
    assert statistical_distance(one, 0, 0) == 0.0
    slots = make_vectors(cube, dataset, unit="slots", minimum_sample=1)
    assert len(slots.units) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": "weeks"}, "choose one of profiles, slots"),
        ({"distance": "kl"}, "choose one of hellinger, tv, js"),
        ({"unit": "slots"}, "shows one household, got 3"),
        ({"unit": "slots", "household": "H9"}, "no household 'H9'"),
        ({"unit": "profiles", "household": "H00"}, "choose unit slots"),
        ({"unit": "households", "window": 1}, "take no window"),
        ({"window": -1}, "from 0 to 167"),
        ({"window": 168}, "from 0 to 167"),
        ({"window": 1.5}, "from 0 to 167"),
        ({"households": []}, "choose at least one"),
        ({"slots": []}, "choose at least one"),
        ({"slots": [336]}, "from 0 to 335"),
        ({"minimum_sample": 0}, "minimum_sample must be"),
        ({"minimum_sample": 10**5}, "a smaller minimum"),
    ],
)
def test_wrong_options_are_refused(dataset, cube, options, message):
    with pytest.raises(InputError, match=message):
        make_vectors(cube, dataset, **options)


def test_a_cube_of_a_selection_has_no_other_households(dataset):
    cube = build_cube(dataset, bins=12, reference_households=["H01", "H02"])
    vectors = make_vectors(cube, dataset, unit="households")
    assert vectors.units["label"].tolist() == ["H01", "H02"]
    with pytest.raises(InputError, match="other households than H00"):
        make_vectors(cube, dataset, unit="households", households=["H00", "H01"])


def test_progress_and_cancel(dataset, cube):
    told = []
    make_vectors(cube, dataset, progress=lambda fraction, message="": told.append(fraction))
    assert told[-1] == 1.0

    def cancel(fraction: float, message: str = "") -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        make_vectors(cube, dataset, progress=cancel)


# Metric axioms


def distributions(distance, blocks):
    """Three rows of random probabilities, many of them equal or zero."""

    def normalise(weights):
        weights = weights.reshape(3, blocks, 5).astype(float)
        weights[..., 0] += weights.sum(axis=2) == 0
        p = weights / weights.sum(axis=2, keepdims=True)
        x = np.sqrt(p / 2) if distance == "hellinger" else p
        return Vectors.from_array(x.reshape(3, -1), distance=distance, blocks=blocks)

    return arrays(np.int64, (3, blocks * 5), elements=st.integers(0, 6)).map(normalise)


@pytest.mark.parametrize(
    ("distance", "blocks"),
    [("hellinger", 1), ("tv", 1), ("js", 1), ("hellinger", 3), ("tv", 3)],
)
@given(data=st.data())
def test_metric_axioms(distance, blocks, data):
    vectors = data.draw(distributions(distance, blocks))
    d = statistical_distance(vectors, np.arange(3)[:, None], np.arange(3)[None, :])
    assert (np.diag(d) == 0).all()
    np.testing.assert_array_equal(d, d.T)
    assert (d >= 0).all()
    assert (d <= blocks * (1 + 1e-12)).all()
    assert d[0, 2] <= d[0, 1] + d[1, 2] + 1e-9
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert (d[a, b] < 1e-6) == np.allclose(vectors.x[a], vectors.x[b], rtol=0, atol=1e-6)


# The theorem: the estimators converge to the true distances


def true_distances(p, q):
    """Hellinger and total variation of two scipy distributions, by quadrature."""
    low = min(p.ppf(1e-13), q.ppf(1e-13))
    high = max(p.isf(1e-13), q.isf(1e-13))
    cuts = np.linspace(low, high, 60)

    def integral(function):
        return sum(integrate.quad(function, a, b)[0] for a, b in pairwise(cuts))

    overlap = integral(lambda v: np.sqrt(p.pdf(v) * q.pdf(v)))
    return {
        "hellinger": np.sqrt(1 - overlap),
        "tv": integral(lambda v: abs(p.pdf(v) - q.pdf(v))) / 2,
    }


PAIRS = {
    "normal": (stats.norm(0, 1), stats.norm(1, 1.5)),
    "exponential": (stats.expon(scale=1), stats.expon(scale=2.5)),
    "gamma": (stats.gamma(2), stats.gamma(3.5)),
}

CLOSED_FORMS = {
    "normal": np.sqrt(1 - np.sqrt(2 * 1.5 / (1 + 1.5**2)) * np.exp(-0.25 / (1 + 1.5**2))),
    "exponential": np.sqrt(1 - 2 * np.sqrt(2.5) / 3.5),
    "gamma": np.sqrt(1 - special.gamma(2.75) / np.sqrt(special.gamma(2) * special.gamma(3.5))),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_quadrature_agrees_with_the_closed_form(name):
    assert true_distances(*PAIRS[name])["hellinger"] == pytest.approx(CLOSED_FORMS[name], abs=1e-7)


@pytest.mark.parametrize("name", PAIRS)
def test_the_estimators_converge_to_the_true_distances(tmp_path, name):
    repetitions = 4
    errors = {"hellinger": [], "tv": []}
    truth = true_distances(*PAIRS[name])
    rng = np.random.default_rng(7)
    for m, bins in ((400, 4), (4_000, 12), (60_000, 60)):
        times = pd.date_range("2000-01-01", periods=m, freq="30min")
        frames = [
            pd.DataFrame(
                {
                    "household": f"{side}{number}",
                    "time": times,
                    "kwh": distribution.rvs(m, random_state=rng),
                }
            )
            for side, distribution in zip("PQ", PAIRS[name], strict=True)
            for number in range(repetitions)
        ]
        dataset = write_dataset(
            tmp_path / str(m), pd.concat(frames, ignore_index=True), row_group_size=10**5
        )
        cube = build_cube(dataset, bins=bins)
        for distance, steps in errors.items():
            vectors = make_vectors(cube, dataset, unit="households", distance=distance)
            pairs = np.arange(repetitions)
            found = statistical_distance(vectors, pairs, pairs + repetitions)
            steps.append(np.abs(found - truth[distance]).mean())
    for distance, steps in errors.items():
        assert steps[0] > steps[1] > steps[2], (distance, steps)
        assert steps[2] < 0.006, (distance, steps)


@pytest.mark.parametrize(("m", "expected"), [(20, 0.84), (77, 0.58), (231, 0.36)])
def test_small_samples_look_far_apart(m, expected):
    rng = np.random.default_rng(8)
    counts = rng.multinomial(m, np.full(100, 0.01), size=400).astype(np.uint8)
    vectors = Vectors.from_array(counts, distance="tv", block_weights=np.array([1 / m]))
    found = statistical_distance(vectors, np.arange(0, 400, 2), np.arange(1, 400, 2))
    assert found.mean() == pytest.approx(expected, abs=0.02)


@settings(max_examples=30)
@given(
    counts=arrays(np.uint8, (2, 6), elements=st.integers(0, 200)),
    slots=st.lists(st.integers(0, 5), min_size=1, unique=True),
    window=st.integers(0, 2),
)
def test_window_sums_are_cyclic(counts, slots, window):
    found = window_sum(counts, np.array(slots), window, dtype=np.uint16)
    for row in range(2):
        for place, slot in enumerate(slots):
            around = [int(counts[row, (slot + o) % 6]) for o in range(-window, window + 1)]
            assert found[row, place] == sum(around)
