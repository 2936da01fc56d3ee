"""A map as plain arrays."""

import numpy as np
import pytest

from core.density import LEVELS, hdr_density
from core.scene import View, density_scene, map_points, map_scene
from core.scene.coloring import HDR, LEVEL_NAMES, choices
from core.scene.map_scene import contour_lines, undirected_edges
from core.scene.view import inside_region


def test_a_scene_has_what_the_run_has(result):
    scene = map_scene(result)
    np.testing.assert_array_equal(scene.points, result.y)
    np.testing.assert_array_equal(scene.coloring.codes, result.hdr.level)
    np.testing.assert_array_equal(scene.marked, result.hdr.anomalies)
    assert (np.diff(result.hdr.density[scene.order]) >= 0).all()
    assert scene.axis_names == ("ISOMAP 1", "ISOMAP 2")
    row = int(result.hdr.anomalies[0])
    told = scene.tell(np.array([row]))
    assert told["label"] == [result.units["label"].iat[row]]
    assert told["rank"] == [1]
    assert told["hdr"] == ["in the rarest 1 %"]
    assert "value" not in told
    by_tariff = map_scene(result, color_by="tariff").tell(np.array([row]))
    assert by_tariff["value"] == [f"tariff: {result.units['tariff'].iat[row]}"]


def test_no_more_than_half_of_a_few_points_are_marked():
    places = np.random.default_rng(0).normal(size=(7, 2))
    hdr = hdr_density(places)
    assert len(hdr.anomalies) == 7
    np.testing.assert_array_equal(density_scene(places, hdr).marked, hdr.anomalies[:3])


def test_every_choice_of_colours_makes_a_scene(result):
    for by in choices(result):
        scene = map_scene(result, color_by=by, contours=True)
        colors = scene.colors_of(np.arange(scene.n), pale="#cccccc")
        assert len(colors) == result.n
        assert scene.contours


def test_hidden_levels_are_neither_drawn_nor_marked(result):
    scene = map_scene(result, color_by=HDR, hidden=[LEVEL_NAMES[-1]])
    rare = result.hdr.level == len(LEVELS) - 1
    assert set(scene.drawn) == set(np.flatnonzero(~rare))
    assert list(scene.drawn_marks) == [row for row in result.hdr.anomalies if not rare[row]]
    assert scene.count_in(scene.view(100, 100)) == (~rare).sum()


def test_what_is_not_chosen_is_pale(result):
    chosen = np.arange(result.n) < 3
    scene = map_scene(result).with_(chosen=chosen)
    colors = scene.colors_of(np.arange(result.n), pale="#cccccc")
    assert set(colors[~chosen]) == {"#cccccc"}
    assert "#cccccc" not in colors[:3]


@pytest.mark.parametrize("points", [np.zeros((1, 2)), np.array([[0.0, 1.0], [3.0, 1.0]])])
def test_a_view_of_a_point_or_a_line_has_room_and_equal_scales(points):
    scene = density_scene(points, hdr_density(points))
    view = scene.view(300, 100)
    assert view.inside(points).all()
    assert np.ptp(view.x) / 300 == pytest.approx(np.ptp(view.y) / 100)


def test_rows_in_a_view_are_those_of_a_search_by_hand():
    y = np.random.default_rng(1).normal(size=(300, 2))
    scene = density_scene(y, hdr_density(y))
    view = View((-0.5, 1.0), (-1.0, 0.2), 10, 10)
    inside = (y[:, 0] >= -0.5) & (y[:, 0] <= 1) & (y[:, 1] >= -1) & (y[:, 1] <= 0.2)
    assert scene.rows_in(view).tolist() == [row for row in scene.order if inside[row]]
    assert scene.count_in(view) == inside.sum()


def test_maps_of_other_dimensions_are_points_of_the_plane():
    rng = np.random.default_rng(2)
    line, space = rng.normal(size=(50, 1)), rng.normal(size=(50, 3)) * [5, 2, 0.1]
    flat = map_points(line, np.arange(50.0))
    assert np.ptp(flat[:, 1]) == pytest.approx(np.ptp(line))
    turned = map_points(space)
    # Principal components are those of a singular value decomposition, up to their signs.
    left, scales, _ = np.linalg.svd(space - space.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(turned), np.abs(left[:, :2] * scales[:2]), atol=1e-9)


def test_contours_enclose_the_share_of_points_they_claim():
    y = np.random.default_rng(3).normal(size=(3000, 2))
    contours = contour_lines(hdr_density(y))
    for level, coverage in (("40", 0.40), ("80", 0.80)):
        inside = np.zeros(len(y), int)
        for contour in contours:
            if contour.level == level:
                inside += inside_region(y, *contour.line.T)
        assert np.mean(inside % 2) == pytest.approx(coverage, abs=0.02)
    assert contour_lines(hdr_density(y[:, :1])) == ()


def test_edges_are_named_once():
    indices = np.array([[1, 2], [0, 2], [1, 3], [2, -1]])
    assert undirected_edges(indices).tolist() == [[0, 1], [0, 2], [1, 2], [2, 3]]
