"""Figures: what they show, and the files they make."""

import json
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from PIL import Image

from core.density import LEVELS, hdr_density
from core.errors import InputError
from core.figures import (
    HDR_COLORS,
    HDR_COLORS_SAFE,
    Distribution,
    draw_distributions,
    draw_hdr_map,
    draw_map_grid,
    draw_neighbor_graphs,
    draw_quantile_regions,
    draw_time_map,
    save_figure,
    time_color,
)
from core.figures.demand_summary import week_quantiles
from core.figures.map_grid import turn_alike
from core.scene import color_times, density_scene, plain_scene
from core.scene.coloring import LEVEL_NAMES


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def texts(axes):
    return [text.get_text() for text in axes.texts]


def boxes(axes):
    renderer = axes.get_figure().canvas.get_renderer()
    for text in axes.texts:
        text.update_positions(renderer)
    # Of the words alone, without the line that leads to them.
    return [Text.get_window_extent(text, renderer) for text in axes.texts]


def test_hdr_map_colours_points_by_level_and_names_anomalies(rng):
    y = rng.normal(size=(400, 2))
    hdr = hdr_density(y)
    labels = [f"${i}_x$" for i in range(400)]  # as plain text, not as mathematics
    figure = draw_hdr_map(y, hdr, labels, title="$a$")
    axes = figure.axes[0]
    points, marks = axes.collections
    drawn = {
        tuple(place): to_hex(color)
        for place, color in zip(points.get_offsets().data, points.get_facecolors(), strict=True)
    }
    expected = {
        tuple(place): HDR_COLORS[LEVELS[level]] for place, level in zip(y, hdr.level, strict=True)
    }
    assert drawn == expected
    np.testing.assert_array_equal(marks.get_offsets(), y[hdr.anomalies])
    # They have the colour of their level, as the legend has it, and a shape of their own.
    assert [to_hex(color) for color in marks.get_facecolors()] == [
        HDR_COLORS[LEVELS[level]] for level in hdr.level[hdr.anomalies]
    ]
    assert len(marks.get_paths()[0].vertices) == 5
    assert texts(axes) == [labels[i] for i in hdr.anomalies]
    assert axes.get_aspect() == 1
    legend = figure.legends[0]
    words = [text.get_text() for text in legend.get_texts()]
    assert words == [*LEVEL_NAMES, "isolated on this\nmap (10)"]
    figure.draw_without_rendering()


@pytest.mark.parametrize("spread", [1.0, 0.02])
def test_labels_overlap_neither_each_other_nor_the_border(rng, spread):
    y = rng.normal(size=(300, 2))
    y[:10] = [5, 5] + spread * rng.normal(size=(10, 2))  # all ten anomalies in one corner
    hdr = hdr_density(y, rank_by="isolation", isolation=np.arange(300, 0, -1))
    axes = draw_hdr_map(y, hdr, [f"household {i}" for i in range(300)]).axes[0]
    placed = boxes(axes)
    assert len(placed) == 10
    area = axes.get_window_extent()
    for i, box in enumerate(placed):
        assert area.x0 - 1 <= box.x0 and box.x1 <= area.x1 + 1
        for other in placed[:i]:
            assert not (
                min(box.x1, other.x1) - max(box.x0, other.x0) > 1
                and min(box.y1, other.y1) - max(box.y0, other.y0) > 1
            )


def test_many_points_are_pixels_in_vector_files(rng, tmp_path):
    y = rng.normal(size=(20_001, 2))
    figure = draw_hdr_map(y, hdr_density(y))
    assert figure.axes[0].collections[0].get_rasterized()
    save_figure(figure, tmp_path / "map.svg")
    assert (tmp_path / "map.svg").stat().st_size < 2_000_000
    few = draw_hdr_map(y[:100], hdr_density(y[:100]))
    assert not few.axes[0].collections[0].get_rasterized()


@pytest.mark.parametrize("d", [1, 3])
def test_maps_of_other_dimensions(rng, d):
    y = rng.normal(size=(50, d))
    figure = draw_hdr_map(y, hdr_density(y), [str(i) for i in range(50)])
    assert len(figure.axes[0].collections[0].get_offsets()) == 50
    figure.draw_without_rendering()


@pytest.mark.parametrize("n", [1, 2])
def test_maps_of_hardly_any_points(rng, n):
    y = rng.normal(size=(n, 2))
    draw_hdr_map(y, hdr_density(y), ["a", "b"][:n]).draw_without_rendering()


def lightness(color):
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("colors", [HDR_COLORS, HDR_COLORS_SAFE])
def test_levels_darken_from_typical_to_anomalous(colors):
    shades = [lightness(colors[level]) for level in LEVELS]
    assert shades == sorted(shades, reverse=True)
    assert min(-np.diff(shades)) > 10
    assert colors[">99"] == "#000000"


def test_time_colours_are_cyclic_and_brightest_at_noon():
    np.testing.assert_allclose(time_color(0), time_color(24 * 60), atol=1e-6)
    np.testing.assert_allclose(time_color(0), time_color(24 * 60 - 1), atol=0.05)
    shades = [lightness(to_hex(time_color(60 * hour))) for hour in range(24)]
    assert 11 <= np.argmax(shades) <= 14


def test_time_map(rng):
    minutes = np.arange(48) * 30.0
    figure = draw_time_map(rng.normal(size=(48, 2)), minutes)
    np.testing.assert_allclose(
        figure.axes[0].collections[0].get_facecolors(), time_color(minutes + 15), atol=0.005
    )


def test_distributions_share_their_scales(rng):
    kwh = rng.gamma(2, 0.2, 500)
    figure = draw_distributions(
        [
            Distribution("typical", kwh, others={"everybody": rng.gamma(2, 0.3, 900)}),
            Distribution("anomalous", 2 * kwh, anomalous=True),
            Distribution("empty", np.zeros(30)),
        ]
    )
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in shown] == ["typical", "anomalous", "empty"]
    assert len({axes.get_xlim() for axes in shown}) == 1
    names = [text.get_text() for text in shown[0].get_legend().get_texts()]
    assert names == ["this unit", "everybody"]
    figure.draw_without_rendering()


def test_quantile_regions_name_the_days_and_regions(rng):
    times = np.arange("2024-01-01", "2024-03-01", np.timedelta64(30, "m"), dtype="datetime64[m]")
    week = week_quantiles(times, rng.gamma(2, 0.2, len(times)), 30)
    figure = draw_quantile_regions({"one": week, "two": week})
    bottom = figure.axes[-1]
    assert [tick.get_text() for tick in bottom.get_xticklabels()][:2] == ["Mon", "Tue"]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["99 %", "95 %", "75 %", "50 %", "median"]
    outermost = bottom.collections[0].get_paths()[0].vertices
    assert outermost[:, 1].max() == pytest.approx(week.high[-1].max())


def test_edges_are_drawn_once(rng):
    indices = np.array([[1, 2], [0, 2], [1, 3], [2, -1]])
    figure = draw_neighbor_graphs(rng.normal(size=(4, 2)), {"a": indices, "b": indices})
    assert [len(axes.collections[0].get_segments()) for axes in figure.axes] == [4, 4]


def test_maps_of_a_grid_are_turned_alike(rng):
    y = rng.normal(size=(60, 2)) * [3, 1]
    turned = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    np.testing.assert_allclose(turn_alike(y @ turned + 4, y), y - y.mean(axis=0), atol=1e-9)
    row = [density_scene(each, hdr_density(y)) for each in (y, y @ turned)]
    figure = draw_map_grid(
        [[*row, None], row], row_titles=["a", "b"], column_titles=["exact", "kdtree", "annoy"]
    )
    places = [axes.collections[0].get_offsets() for axes in figure.axes if axes.collections]
    assert len(places) == 4
    for place in places[1:]:
        np.testing.assert_allclose(place - place.mean(axis=0), places[0] - places[0].mean(axis=0))
    assert "no result" in [text for axes in figure.axes for text in texts(axes)]


def test_a_grid_by_time_of_day(rng):
    scene = plain_scene(rng.normal(size=(48, 2)), color_times(np.arange(48) * 30.0))
    figure = draw_map_grid([[scene]], row_titles=["a"], column_titles=["exact"])
    assert any("Time of day" in axes.get_ylabel() for axes in figure.axes)


def test_text_of_an_svg_is_text(rng, tmp_path):
    y = rng.normal(size=(60, 2))
    figure = draw_hdr_map(y, hdr_density(y), [f"home {i}" for i in range(60)])
    save_figure(figure, tmp_path / "a.svg")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()  # noqa: S314 (our own file)
    texts = [element.text for element in root.iter() if element.tag.endswith("}text")]
    assert {"densest 1 %", "first coordinate"} <= set(texts)
    assert sum(text.startswith("home ") for text in texts) == 10


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_files_hold_what_they_show(rng, tmp_path, suffix):
    y = rng.normal(size=(30, 2))
    config = {"method": "isomap", "k": 20}
    path, again = tmp_path / f"map{suffix}", tmp_path / f"again{suffix}"
    save_figure(draw_hdr_map(y, hdr_density(y)), path, config)
    content = path.read_bytes()
    if suffix == ".png":
        with Image.open(path) as image:
            assert json.loads(image.info["Description"]) == config
            assert image.info["dpi"][0] == pytest.approx(300, abs=1)
    else:
        assert b"isomap" in content
    save_figure(draw_hdr_map(y, hdr_density(y)), again, config)
    if suffix != ".svg":  # whose parts have random names
        assert again.read_bytes() == content


def test_a_figure_that_cannot_be_written_leaves_the_old_file(rng, tmp_path, monkeypatch):
    y = rng.normal(size=(30, 2))
    figure = draw_hdr_map(y, hdr_density(y))
    path = tmp_path / "map.png"
    path.write_text("old")

    def fail(*arguments, **options):
        raise OSError("disk full")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        save_figure(figure, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match=r"\.png, \.svg, \.pdf"):
        save_figure(figure, tmp_path / "map.bmp")


def test_importing_figures_does_not_import_matplotlib():
    code = "import sys, core.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
