import numpy as np
import pytest
from sklearn.datasets import make_swiss_roll
from sklearn.neighbors import NearestNeighbors

from core.quality import two_nn


def nearest(points):
    # By differences: products of rows lose the distance of points that are very close.
    index = NearestNeighbors(n_neighbors=3, algorithm="kd_tree").fit(points)
    return index.kneighbors(points)[0][:, 1:]


def maximum_likelihood(distances):
    """Another estimate of the same model: (n − 1) / Σ log μ, without the outliers' share."""
    ratio = np.log(distances[:, 1] / distances[:, 0])
    return (len(ratio) - 1) / ratio.sum()


def cube(d, n=4000):
    return np.random.default_rng(d).uniform(size=(n, d))


def turned(points, into=30):
    """The same points in a space of more dimensions."""
    rng = np.random.default_rng(1)
    basis = np.linalg.qr(rng.normal(size=(into, points.shape[1])))[0]
    return points @ basis.T


def sphere(d, n=4000):
    points = np.random.default_rng(d).normal(size=(n, d + 1))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("points", "dimension"),
    [
        (turned(cube(1)), 1),
        (turned(cube(2)), 2),
        (turned(cube(3)), 3),
        (sphere(2), 2),
        (sphere(5), 5),
        (make_swiss_roll(4000, random_state=1)[0], 2),
    ],
    ids=["line", "square", "cube", "sphere", "5-sphere", "swiss roll"],
)
def test_known_manifolds(points, dimension):
    distances = nearest(points)
    found = two_nn(distances)
    assert found.value == pytest.approx(dimension, rel=0.08)
    assert found.value == pytest.approx(maximum_likelihood(distances), rel=0.08)
    assert found.low < found.value < found.high
    assert found.n == 4000


def test_the_interval_holds_the_truth_in_most_samples():
    # A square without borders, so that nothing but chance is left.
    inside = 0
    for seed in range(40):
        angles = np.random.default_rng(seed).uniform(0, 2 * np.pi, (500, 2))
        torus = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
        found = two_nn(nearest(torus))
        inside += found.low <= 2 <= found.high
    assert inside >= 32


def test_duplicates_do_not_count():
    points = cube(2, 500)
    found = two_nn(nearest(np.concatenate([points, points[:100]])))
    assert found.n == 400
    assert found.value == pytest.approx(2, rel=0.2)


@pytest.mark.parametrize(
    "distances", [np.ones((30, 1)), np.zeros((30, 2)), np.ones((30, 2)), np.ones((5, 2))]
)
def test_nothing_to_tell(distances):
    assert two_nn(distances) is None


def test_info_and_runs_tell_it(demo_path, capsys):
    import json

    from core.cli import main
    from core.readings import Dataset
    from core.runs import RunConfig, run

    assert main(["info", str(demo_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["intrinsic_dimension"]
    found = run(Dataset.open(demo_path), RunConfig(neighbors="exact")).dimension
    assert told == pytest.approx(vars(found))
    assert main(["info", str(demo_path)]) == 0
    assert "by TWO-NN" in capsys.readouterr().out
