"""A few eigenvectors of a large symmetric matrix, the same ones every time.

Matrices are dense and of bounded size (see :mod:`core.embedding.landmarks`). That is deliberate:
the matrix of LLE has up to k² entries a row, its sparse factors fill up anyway, and a dense
Cholesky factorisation takes a known time and cannot stall.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, eigh, solve_triangular
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from core.parallel import run_tasks, slices
from core.progress import Progress, silent

# Up to here LAPACK's complete answer is as fast as Lanczos' few vectors.
SMALL = 600
# Shifts, as shares of the largest row sum, until the factorisation finds the matrix positive.
SHIFTS = (1e-14, 1e-12, 1e-10, 1e-8)
# Columns factorised between two reports of progress, at most a few tenths of a second, and rows
# that a thread takes at a time.
COLUMNS, ROWS = 192, 1024


def smallest(
    matrix: csr_array, kernel: np.ndarray, count: int, progress: Progress, *, threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Smallest eigenpairs of a positive semi-definite matrix outside one known null vector.

    The null vector (the constant, or √degree) is moved to the top of the spectrum rather than
    skipped: where other eigenvalues are as small, the one to skip would be any of them.

    Parameters
    ----------
    matrix : csr_array of shape (n, n)
    kernel : ndarray of shape (n,)
        The null vector, of any length.
    count : int
        At most n − 1.

    Returns
    -------
    values : ndarray of shape (count,), increasing
    vectors : ndarray of shape (n, count), orthonormal
    """
    n = matrix.shape[0]
    top = float(abs(matrix).sum(axis=1).max()) or 1.0

    def shifted(shift: float) -> np.ndarray:
        dense = matrix.toarray()
        unit = kernel / np.linalg.norm(kernel)
        for rows in slices(n, 1024):
            dense[rows] += top * np.multiply.outer(unit[rows], unit)
        dense[np.arange(n), np.arange(n)] += shift
        return dense

    progress(0.0, "solving the eigenproblem")
    if n <= SMALL or 3 * count > n:
        values, vectors = eigh(shifted(0.0), subset_by_index=(0, count - 1), overwrite_a=True)
        return values, oriented(vectors)
    furthest = 0.0

    def report(fraction: float, message: str = "") -> None:
        nonlocal furthest  # another shift begins anew, which is no step back
        furthest = max(furthest, fraction)
        progress(furthest / 2, message)

    for shift in SHIFTS:
        try:
            # Symmetric, so the transpose is the same matrix in the order that LAPACK reads.
            factor = shifted(shift * top).T
            factorise(factor, threads=threads, progress=report)
        except LinAlgError:
            continue
        solve = partial(cho_solve, (factor, True), check_finite=False)
        found = _largest(solve, n, count, progress)
        if found is not None:
            inverse, vectors = found
            return 1 / inverse[::-1] - shift * top, oriented(vectors[:, ::-1])
        break
    values, vectors = eigh(shifted(0.0), subset_by_index=(0, count - 1), overwrite_a=True)
    return values, oriented(vectors)


def factorise(matrix: np.ndarray, *, threads: int = 1, progress: Progress = silent) -> None:
    """Put the Cholesky factor of a symmetric matrix into its lower triangle, in place.

    LAPACK's own factorisation neither reports progress nor can be stopped.

    Raises
    ------
    LinAlgError
        If the matrix is not positive definite.
    """
    n = len(matrix)
    for start in range(0, n, COLUMNS):
        stop = min(start + COLUMNS, n)
        own, before = matrix[start:stop, start:stop], matrix[start:stop, :start]
        own -= before @ before.T
        own[:] = np.linalg.cholesky(own)
        run_tasks(
            partial(_factorise_rows, matrix[stop:], own, before),
            slices(n - stop, ROWS),
            threads=threads,
        )
        done = stop / n
        # Column j takes j · (n − j) operations for each of its own.
        progress(done**2 * (3 - 2 * done), "solving the eigenproblem")


def _factorise_rows(below: np.ndarray, own: np.ndarray, before: np.ndarray, rows: slice) -> None:
    """Finish some rows of the columns whose diagonal block is done.

    Parameters
    ----------
    below : ndarray
        All rows below the diagonal block ``own``.
    before : ndarray
        The rows of ``own``, as far as they are left of it.
    rows : slice
        Which of ``below``.
    """
    start, width = before.shape[1], len(own)
    panel = below[rows, start : start + width]
    panel -= below[rows, :start] @ before.T
    panel[:] = solve_triangular(own, panel.T, lower=True, check_finite=False).T


def largest(matrix: np.ndarray, count: int, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
    """Algebraically largest eigenpairs of a dense symmetric matrix.

    Returns
    -------
    values : ndarray of shape (count,), decreasing
    vectors : ndarray of shape (n, count), orthonormal
    """
    n = len(matrix)
    progress(0.0, "solving the eigenproblem")
    found = None
    if n > SMALL and 3 * count <= n:
        found = _largest(matrix.__matmul__, n, count, progress)
    if found is None:
        found = eigh(matrix, subset_by_index=(n - count, n - 1))
    values, vectors = found
    return values[::-1], oriented(vectors[:, ::-1])


def _largest(
    multiply: Callable[[np.ndarray], np.ndarray], n: int, count: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray] | None:
    """Lanczos from a fixed start, in increasing order; None when it does not converge."""

    def step(x: np.ndarray) -> np.ndarray:
        progress(0.5, "solving the eigenproblem")
        return multiply(x)

    # The generator also serves ARPACK where it has to start again.
    rng = np.random.default_rng(0)
    start = rng.uniform(-1, 1, n)
    operator = LinearOperator((n, n), matvec=step, dtype=np.float64)
    try:
        values, vectors = eigsh(
            operator, count, which="LA", v0=start, rng=rng, ncv=max(20, 4 * count), maxiter=100
        )
    except ArpackError:
        return None
    order = np.argsort(values)
    return values[order], vectors[:, order]


def oriented(vectors: np.ndarray) -> np.ndarray:
    """Give each column the sign that makes its largest entry positive."""
    at = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[at, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1, signs)
