"""Samples that have nothing to do with electricity: the tiles of a photograph.

    python examples/photo_tiles.py [FIGURE]

Cuts a photograph that comes with scikit-learn into tiles, takes the brightness of each tile's
pixels as a sample, and maps the tiles by how their brightness is distributed. Tiles that stand
apart are outlined on the photograph. Leaves ``photo_tiles.png``, or the figure that is named.
"""

import sys

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from sklearn.datasets import load_sample_image

import wattfold as wf
from core.figures.map_figure import draw_scene
from core.scene import density_scene

SIDE = 20  # pixels


def main(figure_path: str = "photo_tiles.png") -> None:
    """Map the tiles of a photograph."""
    photo = load_sample_image("china.jpg")
    brightness = photo.mean(axis=2)

    # One sample per tile: where it is, and how bright each of its pixels is.
    samples = {
        f"{row},{column}": brightness[row : row + SIDE, column : column + SIDE].ravel()
        for row in range(0, photo.shape[0] - SIDE + 1, SIDE)
        for column in range(0, photo.shape[1] - SIDE + 1, SIDE)
    }

    # Bins, counts and Hellinger distances; then neighbours, a map and its density.
    tiles = wf.map_vectors(wf.from_samples(samples, distance="hellinger", bins=50))
    print(tiles)
    first = tiles.table().sort_values("rank").head(10)
    print(first[["label", "hdr", "rank"]].to_string(index=False))

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.imshow(photo)
    left.set_axis_off()
    for label in first["label"]:
        row, column = map(int, label.split(","))
        left.add_patch(Rectangle((column, row), SIDE, SIDE, fill=False, color="red", linewidth=2))
    draw_scene(right, density_scene(tiles.y, tiles.hdr))
    right.set(xticks=[], yticks=[], title="each point is a tile; diamonds are outlined at the left")
    figure.savefig(figure_path, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:])
