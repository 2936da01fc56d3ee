"""Figures for print: their size, their lettering, and what is in the files."""

import re
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest
from export_runs import hostile_dataset
from matplotlib.text import Text
from PIL import Image

from core.errors import InputError
from core.export import Paper, Provenance
from core.export.figure_views import (
    distribution_figure,
    installed_fonts,
    map_figure,
    population_sample,
    series_figure,
    week_figure,
    write_figure,
)
from core.figures import draw_hdr_map, save_figure
from core.figures.readings_series import with_gaps
from core.runs import RunConfig, run
from core.scene import map_scene
from core.scene.coloring import choices

PAPER = Paper(width_cm=12, height_cm=9, font="STIXGeneral", font_size=10)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return hostile_dataset(tmp_path_factory.mktemp("hostile") / "data")


@pytest.fixture(scope="module")
def result(dataset):
    return run(dataset, RunConfig(bins=20, k=4, neighbors="exact"))


@pytest.fixture(scope="module")
def figures(dataset, result):
    """Every view."""
    rows = [int(row) for row in result.hdr.anomalies[:3]]
    return {
        "map": map_figure(map_scene(result, contours=True), paper=PAPER, rings=rows[:1]),
        "demand": distribution_figure(result, dataset, rows, paper=PAPER),
        "week": week_figure(result, dataset, rows[:2], paper=PAPER),
        "series": series_figure(result, dataset, rows[0], paper=PAPER),
    }


VIEWS = ("map", "demand", "week", "series")


@pytest.mark.parametrize("view", VIEWS)
def test_a_png_has_the_size_that_was_asked_for(figures, result, tmp_path, view):
    write_figure(figures[view], tmp_path / "a.png", Provenance.of(result))
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == pytest.approx((12 / 2.54 * 300, 9 / 2.54 * 300), abs=1)
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        assert len(image.convert("RGB").getcolors(1 << 20)) > 20


@pytest.mark.parametrize("view", VIEWS)
def test_an_svg_is_xml_of_that_size(figures, result, tmp_path, view):
    write_figure(figures[view], tmp_path / "a.svg", Provenance.of(result))
    root = ElementTree.parse(tmp_path / "a.svg").getroot()  # noqa: S314 (our own file)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    width, height = (float(root.get(side).removesuffix("pt")) for side in ("width", "height"))
    assert (width, height) == pytest.approx((12 / 2.54 * 72, 9 / 2.54 * 72), abs=0.1)
    assert not [each for each in root.iter() if each.tag.endswith("script")]


@pytest.mark.parametrize("view", VIEWS)
def test_a_pdf_is_whole_and_has_one_page_of_that_size(figures, result, tmp_path, view):
    write_figure(figures[view], tmp_path / "a.pdf", Provenance.of(result))
    content = (tmp_path / "a.pdf").read_bytes()
    assert content.startswith(b"%PDF-1.")
    # The table at the end says where every object begins.
    start = int(re.search(rb"startxref\s+(\d+)\s+%%EOF\s*$", content)[1])
    lines = content[start:].split(b"\n")
    assert lines[0] == b"xref"
    count = int(lines[1].split()[1])
    for number, line in enumerate(lines[2 : 2 + count]):
        offset, _, kind = line.split()
        if kind == b"n":
            assert content[int(offset) :].startswith(b"%d 0 obj" % number)
    box = re.search(rb"/MediaBox \[ ([\d. ]+) \]", content)[1].split()
    assert [float(side) for side in box] == pytest.approx(
        [0, 0, 12 / 2.54 * 72, 9 / 2.54 * 72], abs=0.1
    )
    assert content.count(b"/Type /Page ") == 1
    # Publishers refuse fonts of type 3.
    assert b"/Subtype /Type3" not in content
    assert b"/FontFile2" in content
    for stream in re.finditer(rb"/Length (\d+) 0 R.*?stream\r?\n", content, re.DOTALL):
        zlib.decompressobj().decompress(content[stream.end() :])


@pytest.mark.parametrize("view", VIEWS)
def test_all_text_is_in_the_font_and_in_proportion(figures, view):
    figure = figures[view]
    figure.draw_without_rendering()
    texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert texts
    assert {text.get_fontfamily()[0] for text in texts} == {"STIXGeneral"}
    axes = figure.axes[0]
    assert axes.yaxis.label.get_fontsize() == pytest.approx(10)
    assert axes.yaxis.get_ticklabels()[0].get_fontsize() == pytest.approx(10 * 7 / 8)


def test_the_map_is_drawn_as_it_is_coloured(result):
    for by in choices(result):
        scene = map_scene(result, color_by=by)
        colors = scene.coloring
        figure = map_figure(scene)
        points = figure.axes[0].collections[0]
        order = np.argsort(result.hdr.density, kind="stable")
        np.testing.assert_array_equal(points.get_offsets(), result.y[order])
        found = np.round(points.get_facecolors() * 255).astype(int)[:, :3].tolist()
        wanted = [
            [int(colors.colors[code][place : place + 2], 16) for place in (1, 3, 5)]
            for code in colors.codes[order]
        ]
        assert found == wanted
        *names, mark = [text.get_text() for text in figure.legends[0].get_texts()]
        assert mark.split() == [*scene.mark_name.split(), f"({len(scene.marked)})"]
        if colors.names:
            used = [name for code, name in enumerate(colors.names) if code in colors.codes]
            assert names == used
        else:
            ticks = [text.get_text() for text in figure.axes[1].get_yticklabels()]
            assert ticks == [text for _, text in colors.ticks]


def test_hidden_points_are_neither_drawn_nor_named_nor_in_the_legend(result):
    scene = map_scene(result)
    level = scene.coloring.names[result.hdr.level[result.hdr.anomalies[0]]]
    figure = map_figure(map_scene(result, hidden=[level]))
    axes, gone = figure.axes[0], result.hdr.level == result.hdr.level[result.hdr.anomalies[0]]
    assert len(axes.collections[0].get_offsets()) == result.n - gone.sum()
    labels = result.units["label"]
    left = [row for row in scene.marked if not gone[row]]
    assert [text.get_text() for text in axes.texts] == [labels[row] for row in left]
    assert level not in [text.get_text() for text in figure.legends[0].get_texts()]
    assert not map_figure(scene.with_(labelled=False)).axes[0].texts


def test_scales_are_equal_whatever_is_seen(result):
    (x0, y0), (x1, y1) = np.quantile(result.y, 0.3, axis=0), np.quantile(result.y, 0.7, axis=0)
    for ranges in (None, (x0, x1, y0, y1)):
        axes = map_figure(map_scene(result), ranges=ranges).axes[0]
        box = axes.get_window_extent()
        across, up = np.ptp(axes.get_xlim()) / box.width, np.ptp(axes.get_ylim()) / box.height
        assert across == pytest.approx(up)
        if ranges is not None:
            assert axes.get_xlim()[0] <= x0 + 1e-9 and axes.get_xlim()[1] >= x1 - 1e-9


def test_contours_do_not_change_what_is_seen(result):
    plain, contoured = (
        map_figure(map_scene(result, contours=contours)).axes[0] for contours in (False, True)
    )
    assert plain.get_xlim() == contoured.get_xlim()
    assert len(contoured.collections) == len(plain.collections) + 1


def test_many_points_are_one_image_and_the_rest_are_lines(tmp_path):
    from core.density import hdr_density

    y = np.random.default_rng(1).normal(size=(30_000, 2))
    figure = draw_hdr_map(y, hdr_density(y), [str(row) for row in range(30_000)])
    save_figure(figure, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text.count("<image") == 1
    # Ten anomalies and eight entries of the legend are markers of their own.
    assert text.count("<use") < 300
    assert len(text) < 2_000_000
    save_figure(figure, tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().count(b"/Subtype /Image") <= 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"width_cm": 0}, "width_cm must be from 4 to 60"),
        ({"height_cm": float("nan")}, "height_cm"),
        ({"font_size": 100}, "font_size must be from 4 to 24"),
        ({"width_cm": "wide"}, "width_cm"),
    ],
)
def test_a_paper_that_cannot_be_is_refused(changes, words):
    with pytest.raises(InputError, match=words):
        Paper(**changes)


def test_a_font_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(InputError, match="DejaVu Sans"):
        _ = Paper(font="No Such Font").lettering
    assert "STIXGeneral" in installed_fonts()


def test_inches_are_inches():
    assert Paper.in_inches(6, 4, font_size=9).inches == pytest.approx((6, 4))


def test_a_sample_of_the_population_has_its_distribution():
    rng = np.random.default_rng(2)
    kwh = np.sort(rng.gamma(2, 0.2, 10_000))
    edges = kwh[99:-1:100]
    counts = np.histogram(kwh, [-1, *edges, 99])[0]
    sample = population_sample(edges, counts)
    levels = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(
        np.quantile(sample, levels), np.quantile(kwh, levels), rtol=0.02, atol=0.002
    )


def test_series_have_gaps_where_readings_lack():
    time = np.array(["2024-01-01T00:00", "2024-01-01T00:30", "2024-01-01T02:00"], "datetime64[us]")
    filled, kwh = with_gaps(time, np.array([1.0, 2.0, 3.0]), 30)
    np.testing.assert_array_equal(kwh, [1, 2, np.nan, 3])
    assert filled[2] == np.datetime64("2024-01-01T01:00")
