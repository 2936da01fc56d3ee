"""The layers of the map, against what they must show."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.density import hdr_density
from dashboard.coloring import Coloring
from dashboard.map_layers import (
    View,
    contour_lines,
    inside_region,
    marker_size,
    nearest,
    one_for_each_spot,
    place_labels,
    shade,
    whole_view,
)

VIEW = View((-2.0, 2.0), (-1.0, 1.0), 400, 200)


def colors_of(image: np.ndarray) -> set[str]:
    """The colours of an image, whatever their opacity."""
    channels = image.view(np.uint8).reshape(*image.shape, 4)
    seen = channels[channels[..., 3] > 0]
    return {f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue, _ in seen}


def test_pixels_and_plane_undo_each_other():
    points = np.random.default_rng(0).normal(size=(50, 2))
    np.testing.assert_allclose(VIEW.plane(VIEW.pixels(points)), points)
    np.testing.assert_allclose(
        VIEW.pixels(np.array([[-2.0, -1.0], [2.0, 1.0]])), [[0, 0], [400, 200]]
    )


@pytest.mark.parametrize("points", [np.zeros((1, 2)), np.array([[0.0, 1.0], [3.0, 1.0]])])
def test_a_view_of_a_point_or_a_line_has_room(points):
    view = whole_view(points, width=10, height=10)
    assert view.inside(points).all()
    assert view.x[1] > view.x[0]
    assert view.y[1] > view.y[0]


def test_nearest_is_that_of_a_search_by_hand_within_reach():
    rng = np.random.default_rng(1)
    points = rng.uniform((-2, -1), (2, 1), size=(200, 2))
    for place in rng.uniform((-2, -1), (2, 1), size=(20, 2)):
        # A pixel is 0.01 wide and 0.01 high here.
        distance = np.linalg.norm(points - place, axis=1) / 0.01
        expected = int(distance.argmin()) if distance.min() <= 10 else None
        assert nearest(points, place, VIEW, reach=10) == expected
    assert nearest(np.empty((0, 2)), (0, 0), VIEW, reach=10) is None


def test_every_spot_has_its_first_point_and_no_other():
    rng = np.random.default_rng(2)
    points = rng.uniform((-2, -1), (2, 1), size=(5000, 2))
    chosen = one_for_each_spot(points, VIEW)
    first: dict[tuple, int] = {}
    for row, spot in enumerate((VIEW.pixels(points) // 8).astype(int)):
        first.setdefault(tuple(spot), row)
    assert sorted(chosen) == sorted(first.values())


def test_sizes_shrink_with_the_number_of_points():
    sizes = [marker_size(n, VIEW) for n in (1, 336, 3_639, 1_000_000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] >= 3


def test_sizes_grow_with_the_map_on_large_screens_alone():
    sizes = [marker_size(336, View((0, 1), (0, 1), w, h)) for w, h in ((540, 260), (3000, 1500))]
    assert sizes[0] == marker_size(336, View((0, 1), (0, 1), 800, 500))
    assert sizes[1] > 1.5 * sizes[0]


def test_an_image_has_the_colours_of_its_categories_whichever_are_in_view():
    coloring = Coloring(
        "kind", np.array([0, 0, 2, 2], np.uint8), ("#ff0000", "#00ff00", "#0000ff"), ("a", "b", "c")
    )
    points = np.array([[-1.0, 0.0], [-1.0, 0.5], [1.0, 0.0], [1.0, 0.5]])
    image = shade(points, coloring, VIEW)
    assert image.shape == (200, 400)
    assert colors_of(image) == {"#ff0000", "#0000ff"}
    left = shade(points[:2], coloring.take(np.array([0, 1])), VIEW)
    assert colors_of(left) == {"#ff0000"}
    right = shade(points[2:], coloring.take(np.array([2, 3])), VIEW)
    assert colors_of(right) == {"#0000ff"}


def test_an_image_of_numbers_shows_their_place_on_the_scale_and_what_is_missing():
    scale = ("#000000", "#800000", "#ff0000", "#9aa0a8")
    values = np.array([0.0, 1.0, np.nan])
    coloring = Coloring("kWh", np.array([0, 2, 3], np.uint8), scale, values=values, missing=1)
    points = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    assert colors_of(shade(points, coloring, VIEW)) == {"#000000", "#ff0000", "#9aa0a8"}


def test_points_that_are_not_chosen_are_pale():
    coloring = Coloring("kind", np.zeros(2, np.uint8), ("#ff0000",), ("a",))
    points = np.array([[-1.0, 0.0], [1.0, 0.0]])
    image = shade(points, coloring, VIEW, chosen=np.array([True, False]))
    assert colors_of(image) == {"#ff0000", "#c3c7cd"}


def test_contours_enclose_the_share_of_points_they_claim():
    y = np.random.default_rng(3).normal(size=(3000, 2))
    hdr = hdr_density(y)
    lines = contour_lines(hdr, ["#111111"] * 7)
    for level, coverage in (("40 %", 0.40), ("80 %", 0.80)):
        inside = np.zeros(len(y), int)
        for xs, ys, name in zip(lines["xs"], lines["ys"], lines["level"], strict=True):
            if name == level:
                inside += inside_region(y, xs, ys)
        assert np.mean(inside % 2) == pytest.approx(coverage, abs=0.02)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 25))
def test_labels_cover_neither_each_other_nor_named_points(seed, count):
    points = np.random.default_rng(seed).uniform((-1.9, -0.9), (1.9, 0.9), size=(count, 2))
    texts = [f"label {number}" for number in range(count)]
    places = VIEW.pixels(place_labels(points, texts, VIEW, radius=4))
    half = np.array([len(texts[0]) * 6.4 / 2, 7.0])
    written = np.flatnonzero(np.isfinite(places[:, 0]))
    named = VIEW.pixels(points)
    for row in written:
        for other in written:
            if other != row:
                size = np.array([len(texts[row]), len(texts[other])]) * 6.4 / 2
                apart = np.abs(places[row] - places[other])
                assert apart[0] >= size.sum() - 1e-6 or apart[1] >= 2 * half[1] - 1e-6
        others = np.delete(named, row, axis=0)
        apart = np.abs(others - places[row])
        clear = (apart[:, 0] >= len(texts[row]) * 3.2 + 4 - 1e-6) | (apart[:, 1] >= 11 - 1e-6)
        assert clear.all()
    assert len(written) or count > 1


def test_a_region_holds_what_a_triangle_holds():
    points = np.random.default_rng(4).uniform(-1, 1, size=(500, 2))
    inside = inside_region(points, [-1, 1, -1], [-1, -1, 1])
    np.testing.assert_array_equal(inside, points.sum(axis=1) < 0)
