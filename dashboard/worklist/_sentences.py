"""What the worklist says of itself."""

import pandas as pd

from core.worklist import MoreLike, precision_by_detector

EMPTY = (
    "No home is on the worklist yet. Press F, or choose a verdict beside the map, to put the "
    "selected home on it."
)


def progress_text(looked: int, total: int) -> str:
    """Say how far the work is."""
    homes = "home" if total == 1 else "homes"
    return f"{looked:,} of {total:,} {homes} looked into."


def precision_text(cases: pd.DataFrame) -> str:
    """Say how often there was something to find, in all and by detector.

    ``cases`` is the table of all households on the list; without anomalies there is nothing to say.
    """
    if "detector" not in cases:
        return ""
    *by_detector, every = precision_by_detector(cases).to_dict("records")
    if not every["looked"]:
        return ""
    text = (
        f"Right so far: {every['hits']:,} of {every['looked']:,} "
        f"(95 %: {100 * every['low']:.0f} to {100 * every['high']:.0f} %)"
    )
    named = [f"{each['detector']} {each['hits']} of {each['looked']}" for each in by_detector]
    return f"{text}; {', '.join(named)}." if len(named) > 1 else f"{text}."


def more_like_text(found: MoreLike, flagged: tuple[str, ...]) -> str:
    """Say what the flagged homes have in common."""
    some = ", ".join(flagged[:3]) + (f" and {len(flagged) - 3} more" if len(flagged) > 3 else "")
    common = ", ".join(found.in_common) or "nothing unusual"
    notices = "".join(f" {each[:1].upper()}{each[1:]}." for each in found.notices)
    return f"More like {some}; in common: {common}.{notices}"
