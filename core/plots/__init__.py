"""Results as pictures: what ``result.plot()`` and its like return.

Each is a Matplotlib figure, or with ``interactive=True`` a HoloViews object.
"""

from core.plots.pictures import plot_anomaly, plot_calendar, plot_map

__all__ = ["plot_anomaly", "plot_calendar", "plot_map"]
