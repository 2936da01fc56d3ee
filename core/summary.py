"""Results that tell what they are in one line, and in a notebook as a small table."""

from collections.abc import Mapping
from dataclasses import fields
from html import escape
from typing import Any

_LONGEST = 60


class Summarized:
    """A dataclass (with ``repr=False``) whose arrays and tables are told by their sizes.

    A class that has more to say than its fields overrides :meth:`summary`.
    """

    def summary(self) -> dict[str, Any]:
        """Return what there is to know at a glance, by name."""
        told = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        empty = (None, ())
        return {name: value for name, value in told.items() if not any(value is e for e in empty)}

    def __repr__(self) -> str:
        facts = "; ".join(f"{name}: {in_short(value)}" for name, value in self.summary().items())
        return f"<{type(self).__name__} {facts}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align: left'>{escape(str(name))}</th>"
            f"<td style='text-align: left'>{escape(in_short(value))}</td></tr>"
            for name, value in self.summary().items()
        )
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"


def in_short(value: Any) -> str:
    """Return a value in at most a line: arrays and tables by their size."""
    shape = getattr(value, "shape", None)
    if shape:
        size = " × ".join(f"{length:,}" for length in shape)
        return f"{size} {getattr(value, 'dtype', 'table')}"
    if isinstance(value, Summarized):
        return type(value).__name__
    if isinstance(value, Mapping) and len(str(value)) > _LONGEST:
        return f"{len(value):,} entries"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
