"""What can be chosen of segments; light enough for ``--help``."""

from core.registry import Parameter

DETAIL = Parameter(
    name="detail",
    default=0,
    low=-10,
    high=10,
    help="coarser (below 0) or finer (above 0) by so many segments than the number that is found",
)
