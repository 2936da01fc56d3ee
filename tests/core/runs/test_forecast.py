"""What a run is said to cost before it is made."""

import pytest

from core.embedding import METHODS
from core.neighbors.cost import Machine
from core.readings import Dataset
from core.runs import RunConfig, run
from core.runs.forecast import count_points, forecast

# Made up, so that nothing is measured: a machine that is slow at differences, as trees need them.
MACHINE = Machine(
    l1_float=5e-9,
    l1_counts=1e-11,
    difference_pair=3e-9,
    l2_product=3e-11,
    product_pair=3e-10,
    offer=3e-10,
    insert=3e-8,
    js=1e-8,
    far_row=1e-7,
    python_float=3e-8,
)


@pytest.fixture(scope="module")
def dataset(demo_path):
    return Dataset.open(demo_path)


@pytest.mark.parametrize(
    "config",
    [
        RunConfig(k=5),
        RunConfig(unit="households", households=("1001", "1003", "1005"), k=2),
        RunConfig(unit="slots", household="1001", slots="weekend", minimum_sample=1),
        RunConfig(unit="household-slots", households=("1001", "1003"), minimum_sample=1),
    ],
)
def test_points_are_those_of_the_run(dataset, config):
    result = run(dataset, config)
    n, _ = count_points(dataset, config)
    assert n == result.n + len(result.left_out)
    assert forecast(dataset, config, MACHINE, threads=2).n == n


def test_a_faster_search_is_offered_where_one_is(dataset):
    slow = RunConfig(
        unit="household-slots",
        method="laplacian",
        neighbors="kdtree",
        neighbors_parameters={"epsilon": 0.0},
    )
    expected = forecast(dataset, slow, MACHINE, threads=2)
    name, seconds = expected.faster
    assert name == "exact"
    assert seconds < expected.seconds / 2
    exact = forecast(dataset, slow.change(neighbors="exact"), MACHINE, threads=2)
    assert exact.faster is None
    assert exact.seconds == pytest.approx(seconds)


def test_more_points_cost_more(dataset):
    few = forecast(dataset, RunConfig(unit="slots", household="1001"), MACHINE, threads=2)
    many = forecast(dataset, RunConfig(unit="household-slots"), MACHINE, threads=2)
    assert many.seconds > 10 * few.seconds
    assert many.memory_mb > 10 * few.memory_mb


@pytest.mark.parametrize(
    ("method", "n", "p", "measured"),
    [  # of benchmarks/results/scale.md
        ("lle", 3_639, 33_600, 8.1),
        ("hessian", 3_639, 33_600, 9.2),
        ("tsne", 3_639, 33_600, 13.0),
        ("tsne", 99_792, 100, 306.1),
        ("umap", 3_639, 33_600, 4.4),
        # Processor seconds, which two threads share in part.
        ("umap", 84_000, 100, 12.2),
        ("umap", 336_000, 100, 49.8),
        ("umap", 1_222_704, 100, 261.7),
    ],
)
def test_maps_take_about_what_was_measured(method, n, p, measured):
    seconds = METHODS[method].seconds(n, p, METHODS.settings(method, {}))
    assert measured / 2 < seconds < 2 * measured
