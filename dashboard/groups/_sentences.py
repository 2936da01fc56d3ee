"""What is said of two groups."""

import pandas as pd

from core.groups import GroupComparison
from core.groups.compare import Difference

# From this p on a difference is no clear one.
CLEAR = 0.05
_MOST_HOURS, _MOST_ATTRIBUTES, _FEW_ATTRIBUTES = 6, 8, 3


def headline(found: GroupComparison) -> str:
    """Say whether the groups differ."""
    if found.p <= CLEAR:
        return f"They use electricity differently (p {p_text(found.p)})"
    return f"No clear difference in how they use electricity (p {p_text(found.p)})"


def explanation(found: GroupComparison) -> str:
    """Say what the headline rests on."""
    return (
        f"{found.sizes[0]:,} homes against {found.sizes[1]:,}: {100 * found.distance:.0f} % "
        "different, where 0 % is alike and 100 % has nothing in common. Groups of these sizes made "
        f"at random are {100 * found.expected_distance:.0f} % different; p is the share of "
        f"{found.permutations:,} of them that are as far apart."
    )


def kwh_text(difference: Difference) -> str:
    """Say how much the groups use."""
    one, two = difference.first.mean, difference.second.mean
    clear = "" if difference.p <= CLEAR else ", no clear difference"
    return (
        f"{one:.1f} kWh a day against {two:.1f}: {_signed(difference.difference)} (95 % sure: "
        f"{_signed(difference.low)} to {_signed(difference.high)}; p {p_text(difference.p)}{clear})"
    )


def clearest_hours(found: GroupComparison) -> pd.DataFrame:
    """Return the hours that differ most, of those that differ clearly."""
    return found.hours[found.hours["p"] <= CLEAR].head(_MOST_HOURS)


def hours_text(found: GroupComparison) -> str:
    """Name the hours that differ most."""
    clear = clearest_hours(found)
    if clear.empty:
        return "No hour of the week differs clearly."
    lines = [
        f"{_spelled(row['slots'])}: {row['first']:.2f} against {row['second']:.2f} kWh "
        f"(p {p_text(row['p'])})"
        for row in clear.to_dict("records")
    ]
    return "\n".join(lines)


def attributes_text(found: GroupComparison) -> str:
    """Name the attributes that are more, or less, frequent in the group."""
    rows = found.attributes.to_dict("records")
    if not rows:
        return "Nothing else is known of these homes."
    clear = [row for row in rows if row["q"] <= CLEAR]
    if clear:
        return "\n".join(map(_attribute, clear[:_MOST_ATTRIBUTES]))
    largest = map(_attribute, rows[:_FEW_ATTRIBUTES])
    return "\n".join(
        ["Nothing is clearly more or less frequent. The largest differences:", *largest]
    )


def _signed(kwh: float) -> str:
    return f"{kwh:+.1f}".replace("-", "−")


def p_text(p: float) -> str:
    """A probability as people write it."""
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def _attribute(row: dict[str, object]) -> str:
    first, second, q = (float(str(row[name])) for name in ("first", "second", "q"))
    if row["value"] == "median":
        values = f"median {row['attribute']} {first:.4g} against {second:.4g}"
    else:
        values = (
            f"{row['attribute']} {row['value']}: {100 * first:.0f} % against {100 * second:.0f} %"
        )
    return f"{values} (q {p_text(q)})"


def _spelled(slots: str) -> str:
    """Return ``weekdays17:00-18:00`` as people write it."""
    kind = slots.rstrip("0123456789:-")
    return f"{kind.capitalize()} {slots[len(kind) :].replace('-', '–')}"
