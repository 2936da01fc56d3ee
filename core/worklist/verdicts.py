"""What may have been found at a household."""

# The verdict of a household that is yet to be looked into.
OPEN = "open"

# That there was nothing to find.
FINE = "fine"

# Verdicts with a meaning of their own; any other short text is a verdict in own words.
VERDICTS = (OPEN, "fault", "theft", "vacant", "solar", "EV", "heat pump", FINE)

MOST_LETTERS = 80


def is_decided(verdict: str) -> bool:
    """Whether somebody has looked."""
    return verdict != OPEN


def is_hit(verdict: str) -> bool:
    """Whether there was something to find."""
    return verdict not in (OPEN, FINE)
