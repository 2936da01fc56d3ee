"""The story of a point in sentences."""

import math
from typing import Any

import numpy as np

from core.anomalies.words import date_words, q_words
from dashboard.state import Explorer

NOTHING = "Nothing unusual"
LOOKING = "Comparing it with similar homes …"

# How sure a finding is called, up to which q.
_SURE = ((0.05, "Very sure"), (0.2, "Fairly sure"), (0.5, "A good hint"), (1.0, "A weak hint"))


def headline(explorer: Explorer, row: int) -> str:
    """What is unusual about a point, with its size and date."""
    if not explorer.judges_households:
        return explorer.explanation(row)
    if explorer.unusual is None:
        return "" if explorer.listed == "isolated" else LOOKING
    finding = explorer.unusual.finding(row)
    return NOTHING if finding is None else finding.reason


def certainty(explorer: Explorer, row: int) -> str:
    """How sure that is; for an ordinary home, where it stands."""
    if not explorer.judges_households or explorer.unusual is None:
        return ""
    judged = explorer.unusual.judgement(row)
    if judged is None:
        return "It has too few weeks of readings to be compared with other homes."
    if explorer.unusual.finding(row) is None:
        n = len(explorer.unusual.anomalies.table)
        changed = f"\n{_changed(judged['since'])}" if judged["since"] else ""
        return f"{judged['rank'] - 1:,} of {n:,} homes are more unusual.{changed}"
    sure = next(word for limit, word in _SURE if judged["q"] <= limit)
    text = (
        f"{sure}: of the homes listed down to this one, {percent(judged['q'])} are expected to be "
        f"ordinary (q {q_words(judged['q'])})."
    )
    if math.isfinite(judged["stability"]):
        text += (
            f" It stays at the top of the list in {percent(judged['stability'])} of trials that "
            "leave out a third of the weeks."
        )
    return text


def _changed(since: str) -> str:
    date = date_words(np.datetime64(since), year=True)
    return f"Its level changed around {date}, as that of many homes does at some time."


def trust(explorer: Explorer, row: int) -> str:
    """Where a point is on the map, and how far that can be trusted."""
    found: Any = explorer.run.trust
    kept, distortion = float(found.kept[row]), float(found.distortion[row])
    lines = [explorer.place(row)]
    if math.isfinite(kept):
        lines.append(
            f"{percent(kept)} of its most similar points are also beside it on the map"
            f" ({percent(float(np.nanmean(found.kept)))} on average)."
        )
    if math.isfinite(distortion):
        how = "larger" if distortion >= 1 else "smaller"
        times = max(distortion, 1 / max(distortion, 1e-9))
        if times >= 1.25:
            lines.append(f"The map draws its surroundings {times:.1f} times {how} than usual.")
    return "\n".join(lines)


def percent(share: float) -> str:
    """A share in whole percent; never 0 or 100 where it is neither."""
    if 0 < share < 0.005:
        return "under 1 %"
    if 0.995 < share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"
