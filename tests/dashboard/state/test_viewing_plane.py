"""Two directions of an embedding with more of them."""

import numpy as np
import pytest

from core.errors import InputError
from dashboard.state.viewing_plane import axis_pairs, pair_basis, read_basis


def test_pairs_of_axes_are_named_from_one():
    pairs = axis_pairs(4)
    assert len(pairs) == 6
    assert pairs["axes 2 and 4"] == (1, 3)
    np.testing.assert_array_equal(pair_basis(4, (1, 3)).T, [[0, 1, 0, 0], [0, 0, 0, 1]])


def test_directions_are_made_orthogonal_and_keep_their_sense():
    basis = read_basis([[2.0, 2.0], [0.0, 3.0], [0.0, 0.0]], 3)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(basis[:, 0], [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(basis[:, 1], [0, 1, 0], atol=1e-12)


@pytest.mark.parametrize(
    "content",
    [
        None,
        "basis",
        [],
        [[1, 0], [0, 1]],
        [[1, 0], [0, 1], ["x", 0]],
        [[1, 0], [0, 1], [float("nan"), 0]],
        [[1, 1], [0, 0], [0, 0]],
        [[1, 0, 0], [0, 1, 0]],
    ],
)
def test_what_is_no_pair_of_directions_is_refused(content):
    with pytest.raises(InputError):
        read_basis(content, 3)
