"""Progress and cancel in one idea: a callback that is called with the share that is done.

A stage calls ``progress(fraction)`` or ``progress(fraction, message)`` between its pieces of
work, with the fraction of its own work that is done. A caller that wants the work to stop raises
:class:`core.errors.Cancelled` from the callback; the stage lets it pass through.
"""

from typing import Protocol


class Progress(Protocol):
    """What a stage is given to report to."""

    def __call__(self, fraction: float, message: str = "") -> None:
        """Take note that ``fraction`` of the work is done, or raise ``Cancelled``."""


def silent(fraction: float, message: str = "") -> None:
    """Report to nobody."""


def part(progress: Progress, start: float, stop: float) -> Progress:
    """Give a sub-task its share of the work: its 0 … 1 becomes ``start`` … ``stop``."""

    def report(fraction: float, message: str = "") -> None:
        progress(start + (stop - start) * fraction, message)

    return report
