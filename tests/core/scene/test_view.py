"""The part of the plane that is seen, and which points are where in it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.scene.view import View, inside_region, marker_size, nearest, one_for_each_spot

VIEW = View((-2.0, 2.0), (-1.0, 1.0), 400, 200)


def test_pixels_and_plane_undo_each_other():
    points = np.random.default_rng(0).normal(size=(50, 2))
    np.testing.assert_allclose(VIEW.plane(VIEW.pixels(points)), points)
    np.testing.assert_allclose(
        VIEW.pixels(np.array([[-2.0, -1.0], [2.0, 1.0]])), [[0, 0], [400, 200]]
    )


sides = st.floats(0.01, 1e4)


@settings(max_examples=100)
@given(sides, sides, st.integers(1, 4000), st.integers(1, 4000))
def test_equal_scales_hold_what_was_seen_around_the_same_middle(x, y, width, height):
    view = View((0.0, x), (-y, 0.0), width, height).equal()
    assert np.ptp(view.x) / width == pytest.approx(np.ptp(view.y) / height)
    assert np.ptp(view.x) >= x * (1 - 1e-9) and np.ptp(view.y) >= y * (1 - 1e-9)
    assert np.ptp(view.x) == pytest.approx(x) or np.ptp(view.y) == pytest.approx(y)
    assert sum(view.x) == pytest.approx(x, abs=1e-6 * x)


def test_nearest_is_that_of_a_search_by_hand_within_reach():
    rng = np.random.default_rng(1)
    points = rng.uniform((-2, -1), (2, 1), size=(200, 2))
    for place in rng.uniform((-2, -1), (2, 1), size=(20, 2)):
        # A pixel is 0.01 wide and 0.01 high here.
        distance = np.linalg.norm(points - place, axis=1) / 0.01
        expected = int(distance.argmin()) if distance.min() <= 10 else None
        assert nearest(points, place, VIEW, reach=10) == expected
    assert nearest(np.empty((0, 2)), (0, 0), VIEW, reach=10) is None


def test_every_spot_has_its_lowest_point_and_no_other():
    rng = np.random.default_rng(2)
    points = rng.uniform((-2, -1), (2, 1), size=(5000, 2))
    height = rng.permutation(5000)
    chosen = one_for_each_spot(points, height, VIEW)
    lowest: dict[tuple, int] = {}
    spots = (VIEW.pixels(points) // 8).astype(int)
    for row in np.argsort(height):
        lowest.setdefault(tuple(spots[row]), row)
    assert sorted(chosen) == sorted(lowest.values())


def test_the_square_around_a_place_reaches_as_many_pixels_to_each_side():
    square = VIEW.around((1.0, 0.5), 10)
    np.testing.assert_allclose(
        VIEW.pixels(np.column_stack([square.x, square.y])) - VIEW.pixels(np.array([[1.0, 0.5]])),
        [[-10, -10], [10, 10]],
    )


def test_sizes_shrink_with_the_number_of_points():
    sizes = [marker_size(n, VIEW) for n in (1, 336, 3_639, 1_000_000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] >= 3


def test_sizes_grow_with_the_map_on_large_screens_alone():
    sizes = [marker_size(336, View((0, 1), (0, 1), w, h)) for w, h in ((540, 260), (3000, 1500))]
    assert sizes[0] == marker_size(336, View((0, 1), (0, 1), 800, 500))
    assert sizes[1] > 1.5 * sizes[0]


def test_a_region_holds_what_a_triangle_holds():
    points = np.random.default_rng(4).uniform(-1, 1, size=(500, 2))
    inside = inside_region(points, [-1, 1, -1], [-1, -1, 1])
    np.testing.assert_array_equal(inside, points.sum(axis=1) < 0)
