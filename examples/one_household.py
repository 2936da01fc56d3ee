"""The paper's analysis of a single household: its 336 half-hours as points.

    python examples/one_household.py DATASET [HOUSEHOLD]

Draws the half-hours by the time of day, names the most unusual ones, and sets the demand behind
the first of them beside that of a typical one. Leaves ``half-hours.png`` and ``demand.png`` in
the current folder.
"""

import sys

import numpy as np

import wattfold as wf
from core.figures import Distribution, draw_distributions, draw_time_map, save_figure
from core.slots import slot_of


def main(dataset_path: str, household: str | None = None) -> None:
    """Map the half-hours of one household."""
    dataset = wf.open(dataset_path)
    household = household or str(dataset.households["household"].iat[0])

    # Hellinger distances, each half-hour pooled with those beside it, in this household's bins.
    config = wf.RunConfig(unit="slots", household=household, reference="selection", quality=True)
    result = wf.run(dataset, config)
    print(f"household {household}: trustworthiness {result.quality.trustworthiness:.3f}")
    columns = ["label", "hdr", "m", "mean_kwh"]
    print(result.table().sort_values("rank").head(5)[columns].to_string(index=False))

    minutes = result.units["slot"].to_numpy() * dataset.interval_minutes % (24 * 60)
    save_figure(draw_time_map(result.y, minutes, title=household), "half-hours.png")

    anomaly, typical = result.hdr.anomalies[0], result.hdr.typical[0]
    demand = [
        Distribution(
            title=result.units["label"].iat[row],
            kwh=readings_of(dataset, household, result.units["slot"].iat[row], config.window),
            anomalous=row == anomaly,
        )
        for row in (anomaly, typical)
    ]
    save_figure(draw_distributions(demand), "demand.png")


def readings_of(dataset: wf.Dataset, household: str, slot: int, window: int) -> np.ndarray:
    """Return the readings, in kWh, of a slot of the week and of those beside it."""
    readings = dataset.readings(household)
    slots = slot_of(readings["time"].to_numpy(), dataset.interval_minutes)
    apart = np.abs(slots - slot)
    around = np.minimum(apart, dataset.slots_per_week - apart)  # Sunday night is beside Monday
    return readings["kwh"].to_numpy()[around <= window]


if __name__ == "__main__":
    main(*sys.argv[1:])
