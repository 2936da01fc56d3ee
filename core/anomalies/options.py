"""What can be chosen of a ranking; light enough for ``--help``."""

from core.registry import Parameter

TOP = Parameter(name="top", default=20, low=1, high=10_000, help="households in the list")
THRESHOLD = Parameter(
    name="threshold",
    default=0.1,
    low=0.0,
    high=1.0,
    help="share of ordinary households that may be as unusual as one that is called unusual",
)
RESAMPLES = Parameter(
    name="resamples",
    default=10,
    low=0,
    high=1000,
    help="resamples of the weeks that measure stability; 0 leaves it out",
)
