"""The map as one HTML file, opened from the disk in a real browser."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from export_runs import hostile_dataset

from core.export import Provenance, interactive
from core.export.interactive import write_interactive_map
from core.runs import RunConfig, run
from core.scene import map_scene
from core.scene.coloring import DEMAND, HDR


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    dataset = hostile_dataset(tmp_path_factory.mktemp("hostile") / "data")
    return run(dataset, RunConfig(bins=20, k=4, neighbors="exact"))


class Attributes(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.names = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.names += [name for name, _ in attributes]


def write(result, path, by=HDR, **options):
    scene = map_scene(result, color_by=by)
    # Names come from people's files; mathematics would be fetched from another place.
    names = tuple(f"$${name}$$" for name in scene.coloring.names)
    colors = replace(scene.coloring, title="$$\\alpha$$", names=names)
    scene = scene.with_(coloring=colors, **options)
    write_interactive_map(scene, path, Provenance.of(result), title="A <map>")
    return path.read_text(encoding="utf-8")


def test_it_asks_no_other_place(result, tmp_path):
    text = write(result, tmp_path / "map.html")
    assert not [name for name in Attributes(text).names if name in ("src", "href", "srcset")]
    assert "default-src 'none'" in text
    assert len(text) < 3_000_000
    assert [path.name for path in tmp_path.iterdir()] == ["map.html"]


def test_many_points_are_an_image_and_the_file_says_so(result, tmp_path, monkeypatch):
    monkeypatch.setattr(interactive, "MOST_MARKERS", 5)
    text = write(result, tmp_path / "map.html")
    assert "12 points are drawn as an image" in text
    assert "image_rgba" in text or "ImageRGBA" in text
    monkeypatch.undo()
    assert "are drawn as an image" not in write(result, tmp_path / "few.html")


def test_hidden_points_are_not_in_the_file(result, tmp_path):
    shown = np.arange(result.n) != 3
    text = write(result, tmp_path / "map.html", shown=shown)
    assert "1 of 12 points are hidden" in text


@pytest.mark.browser
@pytest.mark.parametrize("crowd", [False, True])
def test_it_works_offline_and_ids_are_text(result, tmp_path, browser, monkeypatch, crowd):
    if crowd:
        monkeypatch.setattr(interactive, "MOST_MARKERS", 5)
    write(result, tmp_path / "map.html", by=DEMAND if crowd else HDR)
    page = browser.new_page(viewport={"width": 1000, "height": 700})
    troubles, requests = [], []
    page.on("console", lambda message: message.type == "error" and troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: troubles.append("a dialog opened"))
    page.on("request", lambda request: requests.append(request.url))
    page.on("requestfailed", lambda request: troubles.append(request.url))
    page.context.set_offline(True)
    page.goto((tmp_path / "map.html").as_uri())
    page.wait_for_function("window.Bokeh && Bokeh.documents.length && Bokeh.documents[0].is_idle")
    plot = "Bokeh.documents[0].roots()[0]"
    row = result.units["label"].tolist().index("<img src=x onerror=alert(1)>")
    x, y = result.y[row]
    pixel = page.evaluate(
        f"""([x, y]) => {{
            const view = Bokeh.index.find_one_by_id({plot}.id)
            const box = view.el.getBoundingClientRect()
            return [box.left + view.frame.x_scale.compute(x),
                    box.top + view.frame.y_scale.compute(y)]
        }}""",
        [float(x), float(y)],
    )
    across, up = page.evaluate(
        f"""() => {{
            const {{x_range, y_range, inner_width, inner_height}} = {plot}
            return [(x_range.end - x_range.start) / inner_width,
                    (y_range.end - y_range.start) / inner_height]
        }}"""
    )
    assert across == pytest.approx(up, rel=0.01)
    page.mouse.move(*pixel)
    # In shadow roots, where no selector of the page reaches.
    page.get_by_text("<img src=x onerror=alert(1)>", exact=True).wait_for(timeout=10_000)
    before = page.evaluate(f"{plot}.x_range.end - {plot}.x_range.start")
    page.mouse.wheel(0, -240)
    page.wait_for_function(f"{plot}.x_range.end - {plot}.x_range.start < {0.95 * before}")
    page.wait_for_timeout(200)
    page.close()
    assert troubles == []
    assert len(requests) == 1
