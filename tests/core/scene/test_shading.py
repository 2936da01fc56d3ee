"""The image of a crowd, against what it must show."""

import numpy as np

from core.scene import DARK, LIGHT, Coloring, MapScene, View
from core.scene.shading import rgba, shade_edges, shade_points

VIEW = View((-2.0, 2.0), (-1.0, 1.0), 400, 200)


def scene_of(points, coloring, **parts):
    points = np.array(points)
    names = [str(row) for row in range(len(points))]
    return MapScene(
        points=points, coloring=coloring, order=np.arange(len(points)), names=names, **parts
    )


def colors_of(image) -> set[str]:
    """The colours of an image, whatever their opacity."""
    pixels = rgba(image)
    channels = pixels.view(np.uint8).reshape(*pixels.shape, 4)
    seen = channels[channels[..., 3] > 0]
    return {f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue, _ in seen}


POINTS = [[-1.0, 0.0], [-1.0, 0.5], [1.0, 0.0], [1.0, 0.5]]
KINDS = Coloring(
    "kind",
    np.array([0, 0, 2, 2], np.uint8),
    ("#ff0000", "#00ff00", "#0000ff"),
    ("a", "b", "c"),
    dark_colors=("#ff8080", "#80ff80", "#8080ff"),
)


def test_an_image_has_the_colours_of_its_categories_whichever_are_in_view():
    scene = scene_of(POINTS, KINDS)
    image = shade_points(scene, VIEW)
    assert rgba(image).shape == (200, 400)
    assert colors_of(image) == {"#ff0000", "#0000ff"}
    assert colors_of(shade_points(scene, VIEW, theme=DARK)) == {"#ff8080", "#8080ff"}
    left = View((-2.0, 0.0), (-1.0, 1.0), 200, 200)
    assert colors_of(shade_points(scene, left)) == {"#ff0000"}
    right = scene.with_(shown=np.array([False, False, True, True]))
    assert colors_of(shade_points(right, VIEW)) == {"#0000ff"}


def test_an_image_is_the_right_way_up():
    scene = scene_of(
        [[-1.5, -0.8], [1.5, 0.8]], Coloring("a", np.zeros(2, np.uint8), ("#ff0000",), ("a",))
    )
    seen = rgba(shade_points(scene, VIEW)) > 0
    assert seen[:60, :100].any() and seen[-60:, -100:].any()
    assert not seen[:60, -100:].any() and not seen[-60:, :100].any()


def test_an_image_of_numbers_shows_their_place_on_the_scale_and_what_is_missing():
    scale = ("#000000", "#800000", "#ff0000", "#9aa0a8")
    values = np.array([0.0, 1.0, np.nan])
    coloring = Coloring("kWh", np.array([0, 2, 3], np.uint8), scale, values=values, missing=1)
    scene = scene_of([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], coloring)
    assert colors_of(shade_points(scene, VIEW)) == {"#000000", "#ff0000", "#9aa0a8"}


def test_points_that_are_not_chosen_are_pale_and_below():
    coloring = Coloring("kind", np.zeros(3, np.uint8), ("#ff0000",), ("a",))
    points = [[-1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]
    scene = scene_of(points, coloring, chosen=np.array([False, True, False]))
    image = shade_points(scene, VIEW)
    assert LIGHT.pale in colors_of(image)
    pixels = rgba(image)
    # Where a chosen and a pale point meet, red shines through nothing.
    right = pixels[:, 200:][pixels[:, 200:] > 0].view(np.uint8).reshape(-1, 4)
    assert (right[:, 0] > 200).all() and (right[:, 1] < 128).all()


def test_all_points_are_pale_where_those_that_are_chosen_are_hidden():
    hidden = np.array([True, True, False, False])
    scene = scene_of(POINTS, KINDS, chosen=hidden, shown=~hidden)
    assert colors_of(shade_points(scene, VIEW)) == {LIGHT.pale}


def test_wrong_edges_have_a_colour_of_their_own():
    scene = scene_of(POINTS, KINDS, edges=np.array([[0, 1]]), wrong_edges=np.array([[2, 3]]))
    assert len(colors_of(shade_edges(scene, VIEW))) == 2
    assert len(colors_of(shade_edges(scene.with_(wrong_edges=scene.edges[:0]), VIEW))) == 1
