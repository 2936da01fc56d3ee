"""The pictures of small maps: which points, in which colours and order, and which links."""

import io

import numpy as np
import pytest
from PIL import Image

from core.density import hdr_density
from core.scene import DARK, LIGHT, Coloring, MapScene
from core.scene.palette import HDR_COLORS
from core.scene.shading import MAXIMUM_MARKERS
from core.study import find_consensus
from dashboard.compare._small_map_images import (
    Frame,
    consensus_coloring,
    draw_small_map,
    graph_scene,
)


def cloud(n, seed=1):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2)) * [4.0, 1.0]
    rank = rng.permutation(n) + 1
    codes = (rank % 3).astype(np.uint8)
    return MapScene(
        points=points,
        coloring=Coloring("thirds", codes, ("#ff0000", "#00ff00", "#0000ff"), ("a", "b", "c")),
        order=np.argsort(-rank),
        names=np.array([f"P{row}" for row in range(n)], object),
        marked=np.argsort(rank)[:7],
    )


def test_a_frame_keeps_the_shape():
    points = np.array([[10.0, 5.0], [30.0, 10.0], [20.0, 5.0]])
    frame = Frame.around(points)
    assert frame.extent == (1.0, 0.25)
    np.testing.assert_allclose(frame(points), [[0, 0], [1, 0.25], [0.5, 0]])


@pytest.mark.parametrize("points", [np.zeros((1, 2)), np.column_stack([np.arange(4.0), [3] * 4])])
def test_flat_maps_have_a_frame(points):
    frame = Frame.around(points)
    assert np.isfinite(frame(points)).all()
    assert min(frame.view().width, frame.view().height) >= 1


def test_few_points_are_drawn_one_by_one_the_marked_on_top():
    scene = cloud(200)
    picture = draw_small_map(scene)
    assert (picture.shown, picture.marked) == (200, 7)
    assert picture.image == b""
    assert sorted(picture.rows) == list(range(200))
    np.testing.assert_array_equal(picture.rows[-7:], scene.marked[::-1])
    np.testing.assert_array_equal(picture.codes, scene.coloring.codes[picture.rows])
    assert picture.names == tuple(scene.names[picture.rows])
    np.testing.assert_allclose(
        picture.places, Frame.around(scene.points)(scene.points)[picture.rows]
    )


def test_hidden_categories_are_left_out_and_the_frame_stays():
    scene = cloud(200)
    some = draw_small_map(scene.with_(shown=scene.coloring.shown(["b"])))
    assert sorted(some.rows) == np.flatnonzero(scene.coloring.codes != 1).tolist()
    assert some.extent == draw_small_map(scene).extent


def test_what_is_not_chosen_is_pale_and_below():
    scene, rows = cloud(200), np.array([5, 17, 80])
    scene = scene.with_(marked=rows[:0], chosen=np.isin(np.arange(200), rows))
    picture = draw_small_map(scene)
    assert set(picture.rows[-3:]) == set(rows)
    assert picture.colors[-1] == LIGHT.pale
    assert draw_small_map(scene, theme=DARK).colors[-1] == DARK.pale
    assert set(picture.codes[:-3]) == {3}
    np.testing.assert_array_equal(picture.codes[-3:], scene.coloring.codes[picture.rows[-3:]])


@pytest.fixture(scope="module")
def crowd():
    return cloud(MAXIMUM_MARKERS + 5000)


def test_a_crowd_becomes_an_image_with_the_marked_above_it(crowd):
    picture = draw_small_map(crowd)
    image = Image.open(io.BytesIO(picture.image))
    assert image.mode == "RGBA"
    width, height = image.size
    assert max(width, height) == 280
    assert width / height == pytest.approx(picture.extent[0] / picture.extent[1], rel=0.02)
    assert picture.shown == picture.marked == 7
    np.testing.assert_array_equal(picture.rows[-7:], crowd.marked[::-1])
    # Far fewer than there are, and named all the same.
    assert len(picture.rows) < 2500
    assert picture.names == tuple(crowd.names[picture.rows])


def test_the_image_of_a_crowd_is_the_right_way_up():
    rng = np.random.default_rng(2)
    n = MAXIMUM_MARKERS + 1000
    low, high = rng.random((n // 2, 2)) * 0.2, 0.8 + rng.random((n - n // 2, 2)) * 0.2
    codes = np.repeat([0, 1], [len(low), len(high)]).astype(np.uint8)
    scene = cloud(n).with_(
        points=np.vstack([low, high]),
        coloring=Coloring("halves", codes, ("#ff0000", "#0000ff"), ("low", "high")),
        marked=np.empty(0, int),
    )
    pixels = np.asarray(Image.open(io.BytesIO(draw_small_map(scene).image))).astype(int)
    pixels[pixels[..., 3] == 0] = 0
    lower_left, upper_right = pixels[-60:, :60], pixels[:60, -60:]
    assert lower_left[..., 0].sum() > 10 * lower_left[..., 2].sum()
    assert upper_right[..., 2].sum() > 10 * upper_right[..., 0].sum()


def edges_of(indices):
    return {(min(i, int(j)), max(i, int(j))) for i, row in enumerate(indices) for j in row}


def test_links_are_the_edges_and_the_wrong_ones_apart():
    rng = np.random.default_rng(3)
    n, k = 50, 4
    truth = np.array([rng.choice(np.delete(np.arange(n), i), k, replace=False) for i in range(n)])
    found = truth.copy()
    found[::5, -1] = (found[::5, -1] + 7) % n
    found[found == np.arange(n)[:, None]] = 1
    scene = cloud(n)
    picture = draw_small_map(graph_scene(scene, found, truth))
    right = np.frombuffer(picture.links, np.uint32).reshape(-1, 2)
    wrong = np.frombuffer(picture.wrong_links, np.uint32).reshape(-1, 2)
    assert {(int(a), int(b)) for a, b in right} == edges_of(found) & edges_of(truth)
    assert {(int(a), int(b)) for a, b in wrong} == edges_of(found) - edges_of(truth)
    alone = draw_small_map(graph_scene(scene, found))
    assert alone.wrong_links == b""
    assert len(alone.links) == 8 * len(edges_of(found))


def test_the_graph_of_a_crowd_is_an_image(crowd):
    n = crowd.n
    indices = (np.arange(n)[:, None] + [1, 2]) % n
    truth = (np.arange(n)[:, None] + [1, 3]) % n
    picture = draw_small_map(graph_scene(crowd, indices, truth))
    assert picture.links == picture.wrong_links == b""
    assert picture.shown == 0
    pixels = np.asarray(Image.open(io.BytesIO(picture.image)))
    assert (pixels[..., 3] > 0).mean() > 0.05


def test_the_consensus_is_coloured_from_none_to_all():
    rng = np.random.default_rng(4)
    found = find_consensus([rng.permutation(30) + 1 for _ in range(4)], n_top=6)
    coloring = consensus_coloring(found)
    np.testing.assert_array_equal(coloring.codes, found.count)
    assert coloring.names == ("none", "1", "2", "3", "all 4")
    assert coloring.colors[0] == LIGHT.pale
    ends = list(HDR_COLORS.values())
    assert (coloring.colors[1], coloring.colors[-1]) == (ends[0], ends[-1])
    assert len(consensus_coloring(find_consensus([[1, 2]], n_top=1)).colors) == 2


def test_ranks_of_a_run_need_no_sorting():
    rank = hdr_density(cloud(100).points).rank
    found = find_consensus([rank], n_top=10)
    np.testing.assert_array_equal(found.median_rank, rank)
