"""What a comparison is predicted to take."""

import pytest

from core.embedding import METHODS
from core.neighbors.cost import Machine
from core.readings import Dataset
from core.runs import RunConfig
from core.runs.forecast import forecast
from core.study.study_forecast import predict_runs

# Slow enough that searches matter beside maps.
MACHINE = Machine(
    l1_float=1e-6,
    l1_counts=1e-6,
    difference_pair=0.0,
    l2_product=1e-6,
    product_pair=0.0,
    offer=1e-6,
    insert=1e-6,
    js=1e-6,
    far_row=1e-4,
    python_float=1e-6,
)

# A map of 60 points by ISOMAP, and what comes after it.
MAP = METHODS["isomap"].seconds(60, 0, {"landmarks": 0})
AFTER = 0.03 + 60 * 2e-4


@pytest.fixture(scope="module")
def dataset(demo_path):
    return Dataset.open(demo_path)


def predicted(dataset, *configs):
    return predict_runs(dataset, configs, MACHINE, threads=1)


def test_one_run_is_its_forecast(dataset):
    config = RunConfig(neighbors="kdtree")
    expected = forecast(dataset, config, MACHINE, threads=1).seconds
    assert predicted(dataset, config) == pytest.approx(expected + AFTER)
    assert predicted(dataset) == 0


def test_a_graph_is_searched_once(dataset):
    isomap, lle = RunConfig(neighbors="annoy"), RunConfig(neighbors="annoy", method="lle")
    both = predicted(dataset, isomap, lle)
    alone = predicted(dataset, isomap) + predicted(dataset, lle)
    search = predicted(dataset, isomap) - AFTER - MAP
    assert both == pytest.approx(alone - search)
    # Other settings, or t-SNE's wider graph, are other searches.
    more = isomap.change(neighbors_parameters={"n_trees": 10})
    assert predicted(dataset, isomap, more) == pytest.approx(
        predicted(dataset, isomap) + predicted(dataset, more)
    )


def test_measuring_takes_the_exact_graph_once(dataset):
    exact = RunConfig(neighbors="exact")
    tree = RunConfig(neighbors="kdtree")
    measured = predicted(dataset, tree.change(quality=True))
    search = predicted(dataset, exact) - AFTER - MAP
    assert measured == pytest.approx(predicted(dataset, tree) + search, rel=1e-3)
    together = predicted(dataset, tree.change(quality=True), exact.change(quality=True))
    assert together == pytest.approx(measured + AFTER + MAP, rel=1e-3)


def test_of_many_points_a_sample_is_measured(dataset):
    few = RunConfig(unit="household-slots", neighbors="annoy", households=("1001",))
    many = RunConfig(unit="household-slots", neighbors="annoy")
    share = []
    for config in (few, many):
        extra = predicted(dataset, config.change(quality=True)) - predicted(dataset, config)
        exact = predicted(dataset, config.change(neighbors="exact"))
        share.append(extra / exact)
    assert share[0] > 0.5
    assert share[1] < 0.1
