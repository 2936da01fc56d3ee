"""How large a demo dataset is, and where the truth about it is written."""

from core.registry import Parameter

TRUTH = "truth.parquet"

LEAST_HOUSEHOLDS = 60  # with fewer, one anomaly of each kind would be over a tenth of them
ALL_KINDS_FROM = 200  # households; with fewer, only the first six kinds are planted

OPTIONS = (
    Parameter(
        name="households",
        default=200,
        low=1,
        high=50_000,
        help=f"how many households; from {LEAST_HOUSEHOLDS} on, anomalies are among them",
    ),
    Parameter(name="days", default=365, low=1, high=3660, help="how many days of readings"),
    Parameter(name="seed", default=1, low=0, high=2**32 - 1, help="same seed, same bytes"),
)
