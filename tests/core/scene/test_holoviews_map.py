"""The map as HoloViews, as a notebook gets it."""

from types import SimpleNamespace

import holoviews as hv
import numpy as np
import pytest

from core.density import hdr_density
from core.scene import DARK, LIGHT, density_scene, holoviews_map
from core.scene.holoviews_map import MapStreams, draw_map
from core.scene.map_scene import contour_lines


@pytest.fixture(scope="module", autouse=True)
def bokeh():
    hv.extension("bokeh")


@pytest.fixture(scope="module")
def scene():
    y = np.random.default_rng(0).normal(size=(300, 2)) * [3, 1]
    return density_scene(y, hdr_density(y), [f"home {row}" for row in range(300)])


@pytest.fixture
def follow(scene):
    """The streams of a map that is drawn, 600 × 300 pixels large."""
    streams = MapStreams()
    drawn = draw_map(scene, follow=streams)
    plot = hv.renderer("bokeh").get_plot(drawn)
    streams.size.event(width=600, height=300)
    return SimpleNamespace(
        **vars(streams), show=streams.show, select=streams.select, map=drawn, plot=plot
    )


def layer(follow, kind):
    return next(part for part in follow.map[()] if isinstance(part, kind))


def sources(follow):
    """The data of Bokeh's sources by one of their columns."""
    plots = follow.plot.subplots.values()
    return [plot.handles["source"].data for plot in plots]


def markers(follow):
    return next(data for data in sources(follow) if "hdr" in data and "marker" in data)


def colors(follow, column="color"):
    """The colours of the markers, as the browser finds them by their numbers."""
    plot = next(
        each for each in follow.plot.subplots.values() if "hdr" in each.handles["source"].data
    )
    mapper = plot.handles[f"{column}_color_mapper"]
    numbers = plot.handles["source"].data[column]
    places = (numbers - mapper.low) / (mapper.high - mapper.low) * len(mapper.palette)
    return [mapper.palette[place] for place in places.astype(int)]


def test_markers_stand_where_the_points_are_in_their_colours(follow, scene):
    drawn = markers(follow)
    rows = [int(label.split()[1]) for label in drawn["label"]]
    assert sorted(rows) == list(range(300))
    np.testing.assert_array_equal(np.column_stack([drawn["x"], drawn["y"]]), scene.points[rows])
    assert colors(follow) == list(scene.colors_of(np.array(rows), pale=LIGHT.pale))
    assert set(colors(follow, "line_color")) == {LIGHT.outline, LIGHT.ink}
    # Marked by shape alone, the most anomalous on top.
    marked = [row for row, shape in zip(rows, drawn["marker"], strict=True) if shape == "diamond"]
    assert marked == scene.marked[::-1].tolist() == rows[-len(marked) :]


def test_scales_are_equal_and_all_is_seen(follow, scene):
    figure = follow.plot.state
    x, y = figure.x_range, figure.y_range
    assert figure.tags == ["map", *scene.extent]
    first = np.array(holoviews_map.FIRST_SIZE)
    assert (x.end - x.start) / first[0] == pytest.approx((y.end - y.start) / first[1])
    assert x.start <= scene.extent[0] + 1e-9 and x.end >= scene.extent[1] - 1e-9
    assert (x.reset_start, x.reset_end) == (x.start, x.end)


def test_zooming_draws_no_marker_again(follow):
    before = markers(follow)
    follow.ranges.event(x_range=(0.0, 2.0), y_range=(0.0, 1.0))
    assert markers(follow) is before
    # And the axes stay where the analyst put them.
    assert follow.plot.state.x_range.start != 0.0


def test_zooming_into_many_points_makes_them_larger(scene):
    rng = np.random.default_rng(1)
    y = rng.normal(size=(3000, 2))
    streams = MapStreams()
    draw_map(density_scene(y, hdr_density(y)), follow=streams)
    small = streams.points_view.size
    streams.ranges.event(x_range=(0.0, 0.2), y_range=(0.0, 0.1))
    assert streams.points_view.size > small


def test_zooming_into_a_crowd_draws_what_is_in_view(follow, scene, monkeypatch):
    monkeypatch.setattr(holoviews_map, "MAXIMUM_MARKERS", 299)
    follow.ranges.event(x_range=(0.0, 2.0), y_range=(0.0, 1.0))
    points = scene.points
    inside = ((points >= 0) & (points <= [2, 1])).all(axis=1)
    assert set(markers(follow)["label"]) == {f"home {row}" for row in np.flatnonzero(inside)}


def test_labels_do_not_move_while_panning(follow):
    follow.ranges.event(x_range=(-1.0, 3.0), y_range=(-1.0, 1.0))
    here = layer(follow, hv.Labels).data
    follow.ranges.event(x_range=(-1.7, 2.3), y_range=(-0.9, 1.1))
    there = layer(follow, hv.Labels).data
    for name in ("x", "y", "text"):
        np.testing.assert_array_equal(here[name], there[name])
    assert len(here["text"])


def test_a_selection_is_ringed_and_joined_with_its_neighbours(follow, scene):
    (selection,) = follow.selections
    follow.select([5, 7], [1, 2])
    rings, lines = selection.rings.data, selection.lines.data
    np.testing.assert_array_equal(np.column_stack([rings["x"], rings["y"]]), scene.points[[5, 7]])
    np.testing.assert_array_equal(np.column_stack([lines["x"], lines["y"]]), scene.points[[5, 5]])
    np.testing.assert_array_equal(np.column_stack([lines["x1"], lines["y1"]]), scene.points[[1, 2]])
    drawn = [renderer.data_source for renderer in follow.plot.state.renderers]
    points = next(source for source in drawn if "hdr" in source.data)
    assert drawn.index(selection.lines) < drawn.index(points) < drawn.index(selection.rings)
    # Rows of this scene may not be in the next.
    follow.show(scene.with_(points=2 * scene.points))
    follow.select([3])
    assert selection.rings.data["x"].tolist() == [2 * scene.points[3, 0]]
    assert len(selection.lines.data["x"]) == 0


def test_a_selection_before_the_map_is_drawn_is_on_it(scene):
    streams = MapStreams()
    streams.show(scene)
    streams.select([4])
    hv.renderer("bokeh").get_plot(draw_map(follow=streams))
    assert streams.selections[0].rings.data["x"].tolist() == [scene.points[4, 0]]


def test_dark_paper_has_light_rare_points(follow, scene):
    y = scene.points
    with_lines = scene.with_(contours=contour_lines(hdr_density(y)))
    follow.show(with_lines, theme=DARK)
    assert "#ffffff" in colors(follow) and "#000000" not in colors(follow)
    borders = next(data for data in sources(follow) if "xs" in data)
    assert len(borders["xs"]) == len(with_lines.contours)
    follow.show(scene, theme=LIGHT)
    assert "#000000" in colors(follow)


def test_points_that_are_not_chosen_are_pale(follow, scene):
    chosen = np.arange(scene.n) < 100
    follow.show(scene.with_(chosen=chosen))
    rows = np.array([int(label.split()[1]) for label in markers(follow)["label"]])
    assert colors(follow) == list(scene.with_(chosen=chosen).colors_of(rows, pale=LIGHT.pale))
    follow.show(scene.with_(chosen=np.zeros(scene.n, bool)))
    assert set(colors(follow)) == {LIGHT.pale}


def test_a_crowd_is_an_image_until_one_zooms_in(follow, scene, monkeypatch):
    monkeypatch.setattr(holoviews_map, "MAXIMUM_MARKERS", 50)
    follow.show(scene.with_(), theme=LIGHT)
    image = layer(follow, hv.RGB)
    assert image.dimension_values(2, flat=False).shape == (300, 600)
    drawn = markers(follow)
    # Unseen markers to hover over, and the marked points as ever.
    alphas = {
        shape: {
            alpha
            for alpha, each in zip(drawn["alpha"], drawn["marker"], strict=True)
            if each == shape
        }
        for shape in ("circle", "diamond")
    }
    assert alphas == {"circle": {0.0}, "diamond": {1.0}}
    x, y = scene.points[scene.order[-1]]
    follow.ranges.event(x_range=(x - 0.4, x + 0.4), y_range=(y - 0.2, y + 0.2))
    assert 0 < len(markers(follow)["label"]) <= 50
    assert layer(follow, hv.RGB).dimension_values(2, flat=False).shape == (1, 1)


def test_another_map_is_seen_whole(follow, scene):
    follow.ranges.event(x_range=(0.0, 2.0), y_range=(0.0, 1.0))
    follow.ranges.update(x_range=None, y_range=None)
    other = scene.with_(points=10 * scene.points)
    follow.show(other, theme=LIGHT)
    x = follow.plot.state.x_range
    assert x.start <= other.extent[0] + 1e-9 and x.end >= other.extent[1] - 1e-9
    assert len(markers(follow)["label"]) == 300


def test_a_map_without_a_scene_is_empty():
    follow = MapStreams()
    plot = hv.renderer("bokeh").get_plot(draw_map(follow=follow))
    assert plot.state is not None
