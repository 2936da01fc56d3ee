"""Labels beside points."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.scene.labels import place_labels

AREA = np.array([0.0, 0.0, 400.0, 200.0])
SIZE = np.array([50.0, 14.0])
RADIUS = 4.0


def labels(points, *, beside=(), **options):
    sizes = np.broadcast_to(SIZE, points.shape)
    beside = np.array(beside, float).reshape(-1, 2)
    return place_labels(points, sizes, area=AREA, beside=beside, radius=RADIUS, **options)


def apart(one, other, sizes):
    """Whether two boxes, by their middles, share nothing."""
    return (np.abs(one - other) >= sizes - 1e-6).any()


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 25))
def test_what_is_written_covers_neither_labels_nor_named_points_nor_the_border(seed, count):
    points = np.random.default_rng(seed).uniform((10, 10), (390, 190), size=(count, 2))
    middles = points + labels(points, required=False)
    written = np.flatnonzero(np.isfinite(middles[:, 0]))
    for row in written:
        assert (middles[row] - SIZE / 2 >= AREA[:2] - 1e-6).all()
        assert (middles[row] + SIZE / 2 <= AREA[2:] + 1e-6).all()
        for other in written[written != row]:
            assert apart(middles[row], middles[other], SIZE)
        for other in np.delete(np.arange(count), row):
            assert apart(middles[row], points[other], SIZE / 2 + RADIUS)
    assert len(written) or count > 1


def test_labels_are_the_same_wherever_the_view_is():
    rng = np.random.default_rng(3)
    points, crowd = rng.uniform((20, 20), (380, 180), (8, 2)), rng.uniform(0, 400, (300, 2))
    here = labels(points, beside=crowd)
    move = np.array([1234.0, -77.0])
    there = place_labels(
        points + move,
        np.broadcast_to(SIZE, points.shape),
        area=AREA + np.tile(move, 2),
        beside=crowd + move,
        radius=RADIUS,
    )
    np.testing.assert_allclose(here, there)


def test_required_labels_are_written_even_where_there_is_no_room():
    points = np.full((40, 2), 100.0)
    assert np.isfinite(labels(points)).all()
    assert not np.isfinite(labels(points, required=False)).all()


def test_labels_keep_off_the_crowd_where_they_can():
    point = np.array([[200.0, 100.0]])
    crowd = np.array([[x, y] for x in range(204, 280, 4) for y in range(40, 160, 4)])
    assert labels(point)[0, 0] > 0  # to the right by preference
    assert labels(point, beside=crowd)[0, 0] < 0
