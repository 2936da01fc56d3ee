"""What the page shows, as one value: for undo, links and session files.

Points are rows of the run that the config makes, which are the same rows wherever the dataset is
the same; so a link holds no names.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from core import tokens
from core.density import LEVELS
from core.errors import InputError
from core.readings import Dataset
from core.runs import RunConfig
from core.runs.config import VERSION as RUN_VERSION
from core.scene.coloring import HDR, LEVEL_NAMES

VERSION = 1
LAYERS = ("points", "contours", "labels", "edges")
MAXIMUM_PINS = 4
# What of an explorer makes another view: for undo and the address. Zoom does not: the map has its
# own reset.
REMEMBERED = (
    *("run", "selected", "pins", "chosen"),
    *("color_by", "safe_colors", "hidden", "layers"),
)

_MAXIMUM_HIDDEN = 1_000
_MAXIMUM_TEXT = 1_000
_MAXIMUM_ROW = 2**31
# Enough to tell one dataset from another.
_DIGEST = 12

# What version 0.1 called the levels that a legend can hide.
_OLD_LEVELS = {f"{level} %": name for level, name in zip(LEVELS, LEVEL_NAMES, strict=True)}

Ranges = tuple[float, float, float, float]


@dataclass(frozen=True, kw_only=True)
class ViewState:
    """A run, its colours, and the selected points.

    Attributes
    ----------
    config : RunConfig
        Of the run on the map.
    color_by, safe_colors, hidden, layers
        How it is drawn, see :class:`dashboard.state.explorer.Explorer`.
    selected : int, optional
        The row of the selected point.
    pins : tuple of int
        Rows that are compared.
    chosen : tuple of int
        Rows chosen by box or lasso, as starts and lengths of runs of rows in turn.
    ranges : tuple of float, optional
        The part of the plane that is seen, ``(x0, x1, y0, y1)``; all of it if there is none. Two
        views that only differ in it are the same.
    names : tuple of str
        The names of the selected and the pinned points, in files alone: rows may be other points
        for another version of Wattfold.
    """

    config: RunConfig
    color_by: str = HDR
    safe_colors: bool = False
    hidden: tuple[str, ...] = ()
    layers: tuple[str, ...] = ("points", "labels", "edges")
    selected: int | None = None
    pins: tuple[int, ...] = ()
    chosen: tuple[int, ...] = ()
    ranges: Ranges | None = field(default=None, compare=False)
    names: tuple[str, ...] = field(default=(), compare=False)

    @property
    def points(self) -> tuple[int, ...]:
        """The rows of the selected and the pinned points."""
        return (*(() if self.selected is None else (self.selected,)), *self.pins)

    def to_json(self) -> dict[str, Any]:
        """Return the view as JSON has it, household ids included."""
        return {"config": self.config.to_json(), **self._drawing(), "names": list(self.names)}

    @classmethod
    def from_json(cls, content: Any) -> Self:
        """Read what :meth:`to_json` gave; anything else is refused."""
        if not isinstance(content, Mapping) or "config" not in content:
            raise InputError("a view is described by a JSON object with a config")
        return cls(config=RunConfig.from_json(content["config"]), **_checked_drawing(content))

    def to_token(self, dataset: Dataset) -> str:
        """Return a short text for a URL, with households by their number in the dataset."""
        config = self.config.changed_fields()
        if "household" in config:
            config["household"] = dataset.code(config["household"])
        if "households" in config:
            config["households"] = rows_to_runs([dataset.code(i) for i in config["households"]])
        default = ViewState(config=self.config)._drawing()
        drawing = {name: value for name, value in self._drawing().items() if value != default[name]}
        content = {"data": dataset.digest[:_DIGEST], "config": config, **drawing}
        token = tokens.pack(content, version=VERSION)
        if len(token) > tokens.MAX_TOKEN:
            raise InputError(
                "too many points or households are chosen for a link: choose fewer, or save a "
                "session file instead"
            )
        return token

    @classmethod
    def from_token(cls, token: str, dataset: Dataset) -> Self:
        """Read what :meth:`to_token` gave for this dataset; anything else is refused."""
        content = tokens.unpack(token, version=VERSION, what="the link")
        if not isinstance(content, dict) or not isinstance(content.get("config"), dict):
            raise InputError("the link is damaged; ask for it again")
        if content.get("data") != dataset.digest[:_DIGEST]:
            raise InputError(
                "the link was made for other data; open it on the server where it was made"
            )
        config = dict(content["config"])
        ids = dataset.households["household"]
        if "household" in config:
            config["household"] = ids.iat[_row(config["household"], len(ids))]
        if "households" in config:
            rows = runs_to_rows(_runs(config["households"]), len(ids))
            config["households"] = ids.iloc[rows].tolist()
        run = RunConfig.from_json({"version": RUN_VERSION, **config})
        return cls(config=run, **_checked_drawing(content))

    def without_points(self) -> Self:
        """Return the view for other data, where rows stand for other points."""
        return replace(self, selected=None, pins=(), chosen=(), ranges=None, names=())

    def _drawing(self) -> dict[str, Any]:
        return {
            "color_by": self.color_by,
            "safe_colors": self.safe_colors,
            "hidden": list(self.hidden),
            "layers": list(self.layers),
            "selected": self.selected,
            "pins": list(self.pins),
            "chosen": list(self.chosen),
            "ranges": None if self.ranges is None else list(self.ranges),
        }


def rows_to_runs(rows: Sequence[int] | np.ndarray) -> tuple[int, ...]:
    """Return the start and the length of each run of rows, the starts increasing."""
    rows = np.unique(np.asarray(rows, np.int64))
    if not len(rows):
        return ()
    starts = np.flatnonzero(np.diff(rows, prepend=rows[0] - 2) > 1)
    lengths = np.diff(starts, append=len(rows))
    return tuple(np.column_stack([rows[starts], lengths]).ravel().tolist())


def runs_to_rows(runs: Sequence[int], n: int) -> np.ndarray:
    """Return the rows below ``n`` that such runs stand for."""
    chosen = np.zeros(n, bool)
    for start, length in zip(runs[::2], runs[1::2], strict=True):
        chosen[start : start + length] = True
    return np.flatnonzero(chosen)


def _checked_drawing(content: Mapping[str, Any]) -> dict[str, Any]:
    """The fields beside the config, each of its type and within bounds."""
    given: dict[str, Any] = {}
    if "color_by" in content:
        given["color_by"] = _text(content["color_by"])
    if "safe_colors" in content:
        given["safe_colors"] = content["safe_colors"] is True
    if "hidden" in content:
        hidden = [_text(name) for name in _list(content["hidden"], _MAXIMUM_HIDDEN)]
        given["hidden"] = tuple(_OLD_LEVELS.get(name, name) for name in hidden)
    if "layers" in content:
        wanted = _list(content["layers"], len(LAYERS))
        given["layers"] = tuple(layer for layer in LAYERS if layer in wanted)
    if content.get("selected") is not None:
        given["selected"] = _row(content["selected"])
    if "pins" in content:
        given["pins"] = tuple(_row(row) for row in _list(content["pins"], MAXIMUM_PINS))
    if "chosen" in content:
        given["chosen"] = _runs(content["chosen"])
    if content.get("ranges") is not None:
        given["ranges"] = _ranges(content["ranges"])
    if content.get("names"):
        names = _list(content["names"], MAXIMUM_PINS + 1)
        given["names"] = tuple(_text(name) for name in names)
        points = (given.get("selected") is not None) + len(given.get("pins", ()))
        if len(names) != points:
            raise InputError("the view names more or fewer points than it has")
    return given


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _MAXIMUM_TEXT:
        raise InputError(f"the view has {value!r:.60} where a short text should be")
    return value


def _list(value: Any, longest: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > longest:
        raise InputError(f"the view has {value!r:.60} where at most {longest} values should be")
    return value


def _row(value: Any, n: int = _MAXIMUM_ROW) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < n:
        raise InputError(f"the view has {value!r:.60} where a row below {n:,} should be")
    return value


def _runs(value: Any) -> tuple[int, ...]:
    runs = tuple(_row(number) for number in _list(value, _MAXIMUM_ROW))
    if len(runs) % 2:
        raise InputError("the view has a run of rows without its length")
    return runs


def _ranges(value: Any) -> Ranges:
    numbers = _list(value, 4)
    if len(numbers) != 4 or not all(
        isinstance(number, int | float) and math.isfinite(number) for number in numbers
    ):
        raise InputError(f"the view has {value!r:.60} where four numbers should be")
    x0, x1, y0, y1 = (float(number) for number in numbers)
    if not (x0 < x1 and y0 < y1):
        raise InputError(f"the view has {value!r:.60} where a part of the plane should be")
    return x0, x1, y0, y1
