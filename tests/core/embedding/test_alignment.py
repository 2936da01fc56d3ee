"""Procrustes alignment, against SciPy's and against what was done to the points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import orthogonal_procrustes
from scipy.spatial import procrustes

from core.embedding import align
from core.errors import InputError


def random_map(seed, n=40, d=2):
    return np.random.default_rng(seed).normal(size=(n, d)) * [3.0, 1.0, 0.5][:d] + 7


def turn(angle, *, mirrored=False):
    cosine, sine = np.cos(angle), np.sin(angle)
    rotation = np.array([[cosine, -sine], [sine, cosine]])
    return rotation @ np.diag([1.0, -1.0]) if mirrored else rotation


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("angle", [0.0, 0.4, 3.0])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 250.0])
def test_it_undoes_what_was_done(angle, mirrored, scale):
    model = random_map(1)
    moved = scale * model @ turn(angle, mirrored=mirrored) + [-100 * scale, 3 * scale]
    found = align(moved, model)
    np.testing.assert_allclose(found(moved), model, atol=1e-6)
    assert found.likeness == pytest.approx(1)
    assert found.scale == pytest.approx(1 / scale)
    assert np.linalg.det(found.rotation) == pytest.approx(-1 if mirrored else 1)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_rotation_and_disparity_are_those_of_scipy(seed, d):
    y, model = random_map(seed, d=d), random_map(seed + 10, d=d)
    found = align(y, model)
    rotation, _ = orthogonal_procrustes(y - y.mean(axis=0), model - model.mean(axis=0))
    np.testing.assert_allclose(found.rotation, rotation, atol=1e-12)
    standard, moved, disparity = procrustes(model, y)
    assert 1 - found.likeness == pytest.approx(disparity)
    size = np.linalg.norm(model - model.mean(axis=0))
    np.testing.assert_allclose((found(y) - model.mean(axis=0)) / size, moved, atol=1e-12)
    left_over = ((found(y) - model) ** 2).sum()
    assert left_over / size**2 == pytest.approx(((standard - moved) ** 2).sum())


@settings(max_examples=50)
@given(st.integers(0, 1000), st.floats(0, 6.3), st.booleans(), st.floats(0.5, 2), st.floats(-1, 1))
def test_no_other_movement_is_nearer(seed, angle, mirrored, factor, shift):
    y, model = random_map(seed), random_map(seed + 1)
    found = align(y, model)
    best = ((found(y) - model) ** 2).sum()
    other = factor * found.scale * y @ turn(angle, mirrored=mirrored) + found.shift + shift
    assert ((other - model) ** 2).sum() >= best - 1e-9


def test_likeness_does_not_depend_on_which_is_the_model():
    y, model = random_map(3), random_map(4)
    assert align(y, model).likeness == pytest.approx(align(model, y).likeness)
    assert 0 <= align(y, model).likeness < 1


def test_turning_leaves_the_size():
    y, model = random_map(5), 100 * random_map(6)
    turned = align(y, model).turn(y)
    apart = np.linalg.norm(y[:, None] - y[None], axis=2)
    np.testing.assert_allclose(np.linalg.norm(turned[:, None] - turned[None], axis=2), apart)


@pytest.mark.parametrize("flat", ["y", "model", "both"])
def test_a_single_place_has_no_direction(flat):
    y, model = random_map(7), random_map(8)
    y = np.full_like(y, 2.0) if flat in ("y", "both") else y
    model = np.full_like(model, 5.0) if flat in ("model", "both") else model
    found = align(y, model)
    np.testing.assert_array_equal(found.rotation, np.eye(2))
    assert found.likeness == 0
    np.testing.assert_allclose(found(y).mean(axis=0), model.mean(axis=0))


def test_points_on_a_line_are_aligned():
    model = np.column_stack([np.arange(5.0), np.zeros(5)])
    found = align(model @ turn(1.0), model)
    np.testing.assert_allclose(found(model @ turn(1.0)), model, atol=1e-12)


def test_one_point_is_put_where_the_model_has_it():
    np.testing.assert_array_equal(
        align([[3.0, 4.0]], [[1.0, 2.0]])(np.array([[3.0, 4.0]])), [[1, 2]]
    )


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_sizes_at_the_ends_of_the_floats_do_no_harm(size):
    model = random_map(9)
    moved = size * model @ turn(2.0)
    found = align(moved, model)
    np.testing.assert_allclose(found(moved), model, rtol=1e-9)
    assert found.likeness == pytest.approx(1)


@pytest.mark.parametrize(
    ("y", "model"),
    [
        (np.zeros((3, 2)), np.zeros((4, 2))),
        (np.zeros((3, 2)), np.zeros((3, 1))),
        (np.zeros(3), np.zeros(3)),
        (np.zeros((0, 2)), np.zeros((0, 2))),
    ],
)
def test_maps_of_other_points_are_refused(y, model):
    with pytest.raises(InputError, match="of one shape, got"):
        align(y, model)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_points_without_a_place_are_refused(bad):
    y = random_map(1)
    y[3, 1] = bad
    with pytest.raises(InputError, match="NaN or infinity"):
        align(y, random_map(1))
