"""Coverage as an image to zoom into, pooled to the pixels that it has in the browser."""

from typing import Any

import holoviews as hv
import numpy as np
import panel as pn
import panel_material_ui as pmui
import param

from core.readings.coverage import Coverage, pool_coverage
from dashboard.data import _data_plots, _health_report
from dashboard.widgets import PlainText, column

ORDERS = {"by id": "id", "least covered first": "coverage", "by first and last reading": "first"}

_MOST_CELLS = 1_000_000
_PIXELS = (1000, 400)  # until the browser reports them


class CoverageView(pn.viewable.Viewer):
    """The share of readings there are, households × days, in an order of the reader's choice.

    Households and days are pooled where the image has too few pixels for them, which it says;
    zooming in pools them again.
    """

    order: Any = param.Selector(
        default="id", objects=ORDERS, label="Sort households", doc="How the rows are sorted"
    )

    def __init__(self, coverage: Coverage, households: np.ndarray, **values: Any) -> None:
        super().__init__(**values)
        self.coverage = coverage
        self.households = households
        self._height = _data_plots.coverage_height(len(households))
        self._pooling = PlainText("", look="quiet", sizing_mode="stretch_width", margin=(6, 0))
        self._place = column(height=self._height)
        self._draw()

    def __panel__(self) -> pn.viewable.Viewable:
        choice = pmui.Select.from_param(
            self.param.order, size="small", width=250, margin=(2, 0, 6, 0)
        )
        return column(choice, self._place, self._pooling)

    @param.depends("order", watch=True)
    def _draw(self) -> None:
        """Draw all again: in another order, a place on the image is another household."""
        rows = self.coverage.order(self.order)

        def picture(
            x_range: tuple[Any, Any] | None,
            y_range: tuple[Any, Any] | None,
            width: int | None,
            height: int | None,
            scale: float,
        ) -> hv.Image:
            columns = width or _PIXELS[0]
            pooled = pool_coverage(
                self.coverage,
                rows,
                households=_data_plots.rows_in(y_range),
                days=_data_plots.days_in(x_range, self.coverage.first_day),
                most_rows=min(height or _PIXELS[1], _MOST_CELLS // columns),
                most_columns=columns,
            )
            self._pooling.text = _health_report.pooling_text(pooled)
            return _data_plots.coverage_plot(
                self.coverage, pooled, self.households[rows], height=self._height
            )

        drawn = hv.DynamicMap(picture, streams=[hv.streams.RangeXY(), hv.streams.PlotSize()])
        self._place.objects = [
            pn.pane.HoloViews(drawn, linked_axes=False, sizing_mode="stretch_width")
        ]
