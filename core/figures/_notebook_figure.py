"""A Matplotlib figure that a notebook shows, whether or not pyplot was imported."""

from io import BytesIO

from matplotlib.figure import Figure

_DOTS_PER_INCH = 110


class NotebookFigure(Figure):
    """Shown as a picture where it is the last value of a cell."""

    def _repr_png_(self) -> bytes:
        content = BytesIO()
        self.savefig(content, format="png", dpi=_DOTS_PER_INCH)
        return content.getvalue()
