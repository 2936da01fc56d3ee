"""The anomalies that are planted among the demo households.

Their sizes are fixed here from what such a habit or fault looks like at a real meter, not from
what any detector finds.
"""

from typing import ClassVar

import numpy as np

from core.anomalies.faults import plant
from core.demo._calendar_and_weather import HALF_HOURS, INTERVAL_MINUTES, SLOTS, Setting
from core.demo.options import LEAST_HOUSEHOLDS
from core.slots import slot_label

PLANTED_SHARE = 0.02  # of the first six kinds together

VACANT_SHARE = 0.5  # of what always runs is left on: an alarm, a fridge, a boiler's frost guard
HEAVY_LOAD_KWH = 0.45  # each half-hour: 0.9 kW day and night, such as a few servers or a pump
STUCK_SHARE = 0.4  # of the span, until somebody exchanges the meter
STUCK_FROM = (0.25, 0.35)  # of the span; even a meter that starts late or ends early shows it all
SWAP_HALF_HOURS = 24
WEEKEND_FROM = 4 * HALF_HOURS + 34  # Friday 17:00
WEEKEND_UNTIL = 6 * HALF_HOURS + 40  # Sunday 20:00
EVENT_KWH = 2.5  # each half-hour: 5 kW, such as a pottery kiln
EVENT_HALF_HOURS = 12
EVENT_SKIPPED = 0.05  # of the weeks

WHOLE_WEEK = np.arange(SLOTS, dtype=np.int32)
NEVER = WHOLE_WEEK[:0]


class Anomaly:
    """What is wrong with one household: nothing, until a kind says otherwise."""

    kind: ClassVar[str]
    description: str
    slots = WHOLE_WEEK
    """The half-hours of the week that are affected, int32."""
    deserted = NEVER
    """The half-hours of the week when nobody is ever there, int32."""

    def __init__(self, rng: np.random.Generator) -> None: ...

    def metered(self, kwh: np.ndarray, setting: Setting, rng: np.random.Generator) -> np.ndarray:
        """Return what the meter records, (n,) kWh, of a home that would use ``kwh``."""
        return kwh


class Vacant(Anomaly):
    """A dwelling between two tenants, or left to heirs."""

    kind = "vacant"
    description = "nobody lives there: standby and perhaps a fridge, all year round"
    deserted = WHOLE_WEEK

    def metered(self, kwh: np.ndarray, setting: Setting, rng: np.random.Generator) -> np.ndarray:
        """Leave on a part of what runs while people are away."""
        return VACANT_SHARE * kwh


class ConstantHeavyLoad(Anomaly):
    """Machines that never stop, in an otherwise ordinary home."""

    kind = "constant-heavy-load"
    description = f"{2 * HEAVY_LOAD_KWH:g} kW on top of an ordinary life, day and night"

    def metered(self, kwh: np.ndarray, setting: Setting, rng: np.random.Generator) -> np.ndarray:
        """Add the load to every half-hour."""
        return kwh + HEAVY_LOAD_KWH


class StuckMeter(Anomaly):
    """A meter that repeats itself for months; at its mean, so that the total stays right."""

    kind = "stuck-meter"
    description = f"the same reading over and over for {STUCK_SHARE:.0%} of the time"

    def metered(self, kwh: np.ndarray, setting: Setting, rng: np.random.Generator) -> np.ndarray:
        """Replace one stretch by the mean."""
        start = round(rng.uniform(*STUCK_FROM) * len(kwh))
        stop = start + round(STUCK_SHARE * len(kwh))
        return np.concatenate([kwh[:start], np.full(stop - start, kwh.mean()), kwh[stop:]])


class DayNightSwapped(Anomaly):
    """A meter whose clock takes a.m. for p.m."""

    kind = "day-night-swapped"
    description = "the meter's clock is twelve hours off, so that nights look like days"

    def metered(self, kwh: np.ndarray, setting: Setting, rng: np.random.Generator) -> np.ndarray:
        """Shift all readings by half a day."""
        return np.roll(kwh, SWAP_HALF_HOURS)


class WeekendOnly(Anomaly):
    """A second home, used every weekend of the year and never else."""

    kind = "weekend-only"
    description = "lived in from Friday evening to Sunday evening and empty in between"
    slots = deserted = WHOLE_WEEK[(WHOLE_WEEK < WEEKEND_FROM) | (WHOLE_WEEK >= WEEKEND_UNTIL)]


class WeeklyEvent(Anomaly):
    """A large load at one and the same time of every week."""

    kind = "weekly-event"

    def __init__(self, rng: np.random.Generator) -> None:
        day, start = rng.integers(7), rng.integers(HALF_HOURS - EVENT_HALF_HOURS + 1)
        first = int(day * HALF_HOURS + start)
        self.slots = WHOLE_WEEK[first : first + EVENT_HALF_HOURS]
        begins, _ = slot_label(first, INTERVAL_MINUTES).split("–")
        self.description = (
            f"{2 * EVENT_KWH:g} kW for {EVENT_HALF_HOURS / 2:g} hours every week from {begins}"
        )

    def metered(self, kwh: np.ndarray, setting: Setting, rng: np.random.Generator) -> np.ndarray:
        """Add the event to the slots of most weeks, stronger in some than in others."""
        weeks = setting.days // 7 + 1
        event = EVENT_KWH * rng.lognormal(0, 0.1, weeks) * (rng.random(weeks) >= EVENT_SKIPPED)
        return kwh + event[setting.day // 7] * np.isin(setting.slot, self.slots)


class PlantedFault(Anomaly):
    """A strong fault as the anomaly benchmark plants it; see :mod:`core.anomalies.faults`."""

    fault: ClassVar[str]
    onset: ClassVar[str] = "half"

    def metered(self, kwh: np.ndarray, setting: Setting, rng: np.random.Generator) -> np.ndarray:
        """Change the readings that the fault changes."""
        weeks = np.full((-(-setting.days // 7), 7 * HALF_HOURS), np.nan)
        place = (setting.day * HALF_HOURS + setting.half_hour).astype(np.int64)
        flat = weeks.reshape(-1)
        flat[place] = kwh
        planted = plant(weeks, self.fault, "strong", self.onset, rng)
        # The repeated hour in autumn has one place for two readings.
        changed = planted.kwh.reshape(-1)[place] != flat[place]
        return np.where(changed, planted.kwh.reshape(-1)[place], kwh)


class DeadMeter(PlantedFault):
    """A meter that stops."""

    kind, fault = "dead-meter", "dead"
    description = "reads 0 in the second half of the record"


class Theft(PlantedFault):
    """A meter that is bridged in part."""

    kind, fault = "theft", "theft"
    description = "30 % of what was used before, at all hours of the second half of the record"


class NightCharging(PlantedFault):
    """A car that is charged every night."""

    kind, fault = "night-charging", "charging"
    description = "3 kW more every night 00:00–04:00 in the second half of the record"
    slots = WHOLE_WEEK[WHOLE_WEEK % HALF_HOURS < 8]


class SolarPanels(PlantedFault):
    """Panels on the roof, of which the meter sees what they save."""

    kind, fault = "solar-panels", "solar"
    description = "next to nothing around midday in the second half of the record"
    slots = WHOLE_WEEK[(WHOLE_WEEK % HALF_HOURS >= 18) & (WHOLE_WEEK % HALF_HOURS < 35)]


class ExchangedWeekend(PlantedFault):
    """A home whose people work at the weekend."""

    kind, fault, onset = "exchanged-weekend", "weekend", "whole"
    description = "Tuesdays and Wednesdays are like weekends, Saturdays and Sundays like them"
    slots = WHOLE_WEEK[np.isin(WHOLE_WEEK // HALF_HOURS, (1, 2, 5, 6))]


KINDS: dict[str, type[Anomaly]] = {
    anomaly.kind: anomaly
    for anomaly in (
        Vacant,
        ConstantHeavyLoad,
        StuckMeter,
        DayNightSwapped,
        WeekendOnly,
        WeeklyEvent,
    )
}

# Planted beside those in larger datasets.
MORE_KINDS: dict[str, type[Anomaly]] = {
    anomaly.kind: anomaly
    for anomaly in (DeadMeter, Theft, NightCharging, SolarPanels, ExchangedWeekend)
}


def planted_of_each_kind(households: int) -> int:
    """Return how many of each of ``KINDS`` come nearest to two per cent in all, but at least one.

    Of fewer than 60 households none is planted.
    """
    if households < LEAST_HOUSEHOLDS:
        return 0
    return max(1, round(PLANTED_SHARE * households / len(KINDS)))
