"""What can be chosen of a comparison; light enough for ``--help``."""

from core.registry import Parameter

PERMUTATIONS = Parameter(
    name="permutations",
    default=999,
    low=19,
    high=100_000,
    help="random groups that p is counted among",
)
