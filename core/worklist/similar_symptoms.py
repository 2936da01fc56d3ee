"""More like this: others that are unusual in the way that the flagged households are.

A household is described by how far each statistic of each detector is beyond the ordinary, and by
the hours of the day at which more or less is always on than in other homes. Households with the
same fault point the same way from the ordinary ones, however near or far they are on a map.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.anomalies.detectors import DETECTORS
from core.anomalies.evidence import ORDINARY
from core.anomalies.find import LEAST_USABLE, measure_tails
from core.anomalies.statistics import record_mean, standardize
from core.anomalies.symptoms import Symptoms, summarize, to_half_hours
from core.anomalies.weeks import Weeks
from core.errors import InputError
from core.progress import Progress, part, silent
from core.summary import Summarized

# Hours count from one robust deviation on, up to six, and half as much as the detectors.
HOUR_LEAST, HOUR_MOST, HOUR_WEIGHT = 1.0, 6.0, 0.5

# A household that is hardly unusual is not similar for the direction of what little there is.
LEAST_NORM = 1.0

# So much of a symptom, and flagged households are said to have it in common.
IN_COMMON = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class MoreLike(Summarized):
    """The other households, the most similar to the flagged ones first.

    Attributes
    ----------
    table : DataFrame
        ``household``, ``similarity`` (1 is alike in every respect, 0 nothing in common) and
        ``shares``, the symptoms that it has in common with those flagged.
    in_common : tuple of str
        The symptoms that the flagged households share, the strongest first.
    notices : tuple of str
    """

    table: pd.DataFrame
    in_common: tuple[str, ...]
    notices: tuple[str, ...] = ()


def more_like(weeks: Weeks, flagged: Sequence[str], *, progress: Progress = silent) -> MoreLike:
    """Rank the other households by similarity in what makes the flagged ones unusual.

    Parameters
    ----------
    weeks : Weeks
        The readings, see :func:`core.anomalies.read_weeks`.
    flagged : sequence of household ids
        At least one; three of a kind say more clearly what they have in common.
    progress : Progress
    """
    places = {name: row for row, name in enumerate(weeks.households)}
    unknown = [name for name in flagged if name not in places]
    if unknown:
        raise InputError(f"household {unknown[0]!r} is not among those that are compared")
    if not flagged:
        raise InputError("no household is flagged; flag at least one to find more like it")
    symptoms = summarize(to_half_hours(weeks), progress=part(progress, 0.0, 0.6))
    judged = np.flatnonzero(symptoms.n_weeks >= LEAST_USABLE)
    names = [weeks.households[row] for row in judged]
    own = np.flatnonzero(np.isin(names, list(flagged)))
    if not len(own):
        raise InputError(
            f"the flagged households have fewer than {LEAST_USABLE} weeks of readings each: too "
            "little to say what is unusual about them"
        )
    described, labels = describe(symptoms.take(judged), progress=part(progress, 0.6, 1.0))
    similarity = similarity_to(described, own)
    common = np.median(described[own], axis=0)
    order = [row for row in np.argsort(-similarity, kind="stable") if row not in set(own.tolist())]
    table = pd.DataFrame(
        {
            "household": [names[row] for row in order],
            "similarity": similarity[order],
            "shares": [
                ", ".join(_shared(described[row], common, labels)) or "nothing clearly"
                for row in order
            ],
        }
    )
    in_common = tuple(_shared(common, common, labels))
    notices = []
    if not in_common:
        notices.append(
            "the flagged households have nothing unusual in common; the ranking below means little"
        )
    if len(own) < len(set(flagged)):
        notices.append(f"{len(set(flagged)) - len(own)} flagged households have too few weeks")
    return MoreLike(table, in_common, tuple(notices))


def describe(symptoms: Symptoms, *, progress: Progress = silent) -> tuple[np.ndarray, list[str]]:
    """Return how households are unusual, (n, k), and what each of the k numbers is."""
    detectors = list(DETECTORS.values())
    tails = measure_tails(symptoms, detectors, progress=progress)
    beyond = np.log1p(np.maximum(tails - ORDINARY, 0.0))
    low = record_mean(symptoms, symptoms.low)
    hours = standardize(low - low.mean(axis=1, keepdims=True))
    hours = np.clip(hours, -HOUR_MOST, HOUR_MOST)
    hours = np.sign(hours) * np.log1p(np.maximum(np.abs(hours) - HOUR_LEAST, 0.0))
    labels = [statistic.name for each in detectors for statistic in each.statistics]
    labels += [f"at {hour:02d}:00" for hour in range(24)]
    return np.concatenate([beyond, HOUR_WEIGHT * hours], axis=1), labels


def similarity_to(described: np.ndarray, flagged: np.ndarray) -> np.ndarray:
    """Return the cosine of every row with the mean of the flagged rows, (n,); 0 below 0."""
    center = described[flagged].mean(axis=0)
    norm = np.maximum(np.linalg.norm(described, axis=1), LEAST_NORM)
    return np.maximum(described @ center, 0.0) / (norm * max(np.linalg.norm(center), LEAST_NORM))


def _shared(one: np.ndarray, common: np.ndarray, labels: list[str]) -> list[str]:
    """Name what two descriptions have in common, the strongest first."""
    both = np.where(np.sign(one) == np.sign(common), np.minimum(np.abs(one), np.abs(common)), 0.0)
    order = np.argsort(-both, kind="stable")
    return [labels[place] for place in order[:4] if both[place] >= IN_COMMON]
