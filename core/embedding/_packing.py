"""Maps of several components, side by side on one."""

import numpy as np

# Room between two maps, as a share of the mean width.
GAP = 0.25


def pack(parts: list[np.ndarray]) -> list[np.ndarray]:
    """Move and scale the maps of components so that they fill one map without overlap.

    Each is scaled so that its points are as dense as those of the others, and they are laid out
    in rows, the largest first. In more than two dimensions the rows are in the first two.

    Parameters
    ----------
    parts : list of ndarray of shape (n_c, dim)
        One map a component.

    Returns
    -------
    list of ndarray of the same shapes
    """
    dim = parts[0].shape[1]
    scaled = []
    for part in parts:
        centred = part - part.mean(axis=0)
        spread = np.sqrt((centred**2).mean(axis=0)).max()
        size = len(part) ** (1 / dim)
        scaled.append(centred * (size / spread) if spread > 0 else centred)
    low = [part.min(axis=0)[:2] for part in scaled]
    extent = np.array([part.max(axis=0)[:2] - low_ for part, low_ in zip(scaled, low, strict=True)])
    gap = GAP * (extent.mean() or 1.0)
    if dim == 1:
        row_width = np.inf
    else:
        row_width = max(extent[:, 0].max(), np.sqrt((extent + gap).prod(axis=1).sum()))
    placed: list[np.ndarray] = [np.empty(0)] * len(parts)
    x = y = row_height = 0.0
    for i in sorted(range(len(parts)), key=lambda i: (-len(parts[i]), i)):
        if x > 0 and x + extent[i, 0] > row_width:
            x, y, row_height = 0.0, y + row_height + gap, 0.0
        corner = np.array([x, y])[: min(dim, 2)]
        placed[i] = scaled[i].copy()
        placed[i][:, :2] += corner - low[i]
        x += extent[i, 0] + gap
        row_height = max(row_height, extent[i, -1])
    return placed
