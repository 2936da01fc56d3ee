import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from core.vectors import from_samples
from core.vectors.samples import count_samples, sample_edges


def test_bins_hold_equal_shares_of_all_values():
    values = np.random.default_rng(1).normal(size=1000)
    edges = sample_edges(values, 10)
    assert len(edges) == 9
    np.testing.assert_array_equal(count_samples([values], edges), [[100] * 10])


def test_edges_that_coincide_are_merged():
    assert sample_edges(np.array([0, 0, 0, 0, 1, 2.0]), 6).tolist() == [0, 1]
    assert sample_edges(np.full(5, 3.0), 4).tolist() == []


def test_a_value_at_an_edge_belongs_below_it():
    assert count_samples([np.array([1.0, 1.5, 2.0])], np.array([1.0, 2.0])).tolist() == [[1, 2, 0]]


def test_a_mapping_and_a_long_table_say_the_same():
    rng = np.random.default_rng(2)
    samples = {"a": rng.normal(size=50), "b": rng.normal(size=30), "c": rng.normal(size=40)}
    long = pd.concat(
        [pd.DataFrame({"who": name, "what": values}) for name, values in samples.items()]
    ).sample(frac=1, random_state=1)
    one, other = from_samples(samples), from_samples(long)
    np.testing.assert_array_equal(one.x, other.x)
    assert one.units["label"].tolist() == ["a", "b", "c"]
    assert one.sample_size.tolist() == [50, 30, 40]
    named = from_samples(long.assign(place=1), id="who", value="what")
    np.testing.assert_array_equal(named.x, one.x)


def test_missing_values_do_not_count_and_small_samples_are_left_out():
    samples = {"a": [1.0, np.nan, 2.0], "b": [3.0, 4.0, 5.0], "c": [1.0]}
    vectors = from_samples(samples, minimum_sample=2, bins=4)
    assert vectors.sample_size.tolist() == [2, 3]
    assert vectors.left_out["label"].tolist() == ["c"]
    assert vectors.notices == ("1 samples have fewer than 2 values",)


@pytest.mark.parametrize(
    ("samples", "told"),
    [
        ({"a": ["x"] * 30}, "the values of 'a' are not all numbers"),
        ({"a": [np.inf] * 30}, "the values of 'a' hold an infinite one"),
        ({"a": [1.0]}, "none of 1 samples has 20 values"),
        ({1: [1.0], "1": [2.0]}, "two samples have the same name"),
        (pd.DataFrame({"a": [1], "b": [2], "c": [3]}), "which column holds the ids: .* a, b, c"),
    ],
)
def test_what_is_no_sample_is_told(samples, told):
    with pytest.raises(InputError, match=told):
        from_samples(samples)
