"""Write a demo dataset: ordinary households, planted anomalies, and the truth about them."""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.demo._calendar_and_weather import INTERVAL_MINUTES, TIMEZONE, Setting, make_setting
from core.demo._home_demand import simulate
from core.demo._patterns import Home, draw_home
from core.demo._presence import absence
from core.demo.options import ALL_KINDS_FROM, LEAST_HOUSEHOLDS, OPTIONS, TRUTH
from core.demo.planted_faults import KINDS, MORE_KINDS, Anomaly, planted_of_each_kind
from core.progress import Progress, silent
from core.readings import Dataset
from core.readings.dataset import READINGS_SCHEMA, ROW_GROUP_SIZE, new_dataset

TRUTH_SCHEMA = pa.schema(
    [
        ("household", pa.string()),
        ("kind", pa.string()),
        ("slots", pa.list_(pa.int32())),
        ("description", pa.string()),
    ]
)

# Every kind of random choice has its own stream, so a home is the same whatever is around it.
_WEATHER, _HOME, _LIFE, _GAPS, _PLANTING, _ANOMALY, _IDS = range(7)

# Shares of the meters that start late or end early, and the most of the span that they miss.
_LATE_START, _EARLY_END, _MOST_MISSED = 0.08, 0.06, 0.25
_OUTAGES_A_YEAR = 1.5
_LOST_SHARE = 3e-4  # of single readings

# What ingestion finds out about files, and why.
_SIMULATED = {
    "unit": "kWh",
    "unit_because": "the readings are simulated",
    "cumulative": False,
    "cumulative_because": "the readings are simulated",
    "stamp": "start",
    "stamp_because": "the readings are simulated",
}


@dataclass(frozen=True)
class Meter:
    """One household's kept half-hours, (m,) rows of the setting, and its readings, (m,) kWh."""

    row: np.ndarray
    kwh: np.ndarray


def make_demo(
    path: str | Path,
    *,
    households: int = 200,
    days: int = 365,
    seed: int = 1,
    progress: Progress = silent,
) -> Dataset:
    """Write a demo dataset from Monday 13 July 2009 on, Dublin time, and open it.

    The same arguments give the same bytes, whatever the number of threads. ``truth.parquet``
    lists the planted anomalies: ``household``, ``kind``, ``slots`` of the week, ``description``.
    """
    households, days, seed = (
        int(option.validate(value))
        for option, value in zip(OPTIONS, (households, days, seed), strict=True)
    )
    setting = make_setting(days, _stream(seed, _WEATHER))
    homes = [draw_home(_stream(seed, _HOME, code)) for code in range(households)]
    ids = meter_numbers(households, seed)
    planted = _plant(homes, seed)

    with new_dataset(path) as draft:
        jobs = (
            partial(_read_meter, home, setting, planted.get(code), seed, code)
            for code, home in enumerate(homes)
        )
        accounts, kwh_a_day = [], []
        with draft.readings_writer() as writer, closing(_in_order(jobs)) as meters:
            groups = _RowGroups(writer)
            for code, meter in enumerate(meters):
                accounts.append((len(meter.row), meter.row[0], meter.row[-1]))
                kwh_a_day.append(meter.kwh.mean() * 24 * 60 / INTERVAL_MINUTES)
                groups.add(_table(code, meter, setting))
                progress(0.97 * (code + 1) / households, f"{code + 1} of {households} households")
            groups.finish()
        draft.write_households(_households_table(ids, homes, np.array(accounts), setting))
        pq.write_table(_truth_table(ids, planted), draft.path / TRUTH, compression="zstd")
        draft.write_health(_health(sum(count for count, *_ in accounts), households))
        draft.facts |= {
            "interval_minutes": INTERVAL_MINUTES,
            "timezone": TIMEZONE,
            **_SIMULATED,
            "median_daily_kwh": round(float(np.median(kwh_a_day)), 4),
            "sources": [
                {"name": "synthetic", "seed": seed, "households": households, "days": days}
            ],
        }
    progress(1.0)
    return Dataset.open(path)


def _stream(seed: int, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def meter_numbers(households: int, seed: int) -> list[str]:
    """Return numbers of one length, so that their order as text is their order as numbers."""
    steps = _stream(seed, _IDS).integers(1, 4, size=households).cumsum()
    base = 1000
    while base + steps[-1] >= 10 * base:
        base *= 10
    return [str(base + step) for step in steps]


def _plant(homes: list[Home], seed: int) -> dict[int, Anomaly]:
    """Choose the anomalous among the ordinary households, by code."""
    of_each = planted_of_each_kind(len(homes))
    ordinary = [code for code, home in enumerate(homes) if home.pattern.ordinary]
    kinds = [kind for kind in KINDS.values() for _ in range(of_each)]
    chosen = _stream(seed, _PLANTING).choice(ordinary, size=len(kinds), replace=False)
    kind_of = dict(zip(chosen.tolist(), kinds, strict=True))
    if len(homes) >= ALL_KINDS_FROM:
        more = [kind for kind in MORE_KINDS.values() for _ in range(of_each)]
        left = [code for code in ordinary if code not in kind_of]
        chosen = _stream(seed, _PLANTING, 1).choice(left, size=len(more), replace=False)
        kind_of |= dict(zip(chosen.tolist(), more, strict=True))
    return {code: kind_of[code](_stream(seed, _ANOMALY, code)) for code in sorted(kind_of)}


def _read_meter(
    home: Home, setting: Setting, anomaly: Anomaly | None, seed: int, code: int
) -> Meter:
    """Simulate one household and its meter."""
    life = _stream(seed, _LIFE, code)
    away = absence(home, setting, life)
    if anomaly is not None:
        away |= np.isin(setting.slot, anomaly.deserted)
    kwh = simulate(home, setting, away, life)
    if anomaly is not None:
        kwh = anomaly.metered(kwh, setting, _stream(seed, _ANOMALY, code, 1))
    row = np.flatnonzero(_received(setting, _stream(seed, _GAPS, code)))
    # k/1000 to the nearest double, so that equal readings are equal numbers.
    return Meter(row, np.round(kwh[row] * 1000) / 1000)


def _received(setting: Setting, rng: np.random.Generator) -> np.ndarray:
    """Which half-hours reach the data: some meters start late or end early, all have outages."""
    n = setting.n
    received = rng.random(n) >= _LOST_SHARE
    for first in np.flatnonzero(rng.random(setting.days) < _OUTAGES_A_YEAR / 365):
        start = setting.row[first, rng.integers(48)]
        # A few hours as a rule, now and then weeks.
        received[start : start + int(rng.lognormal(2.5, 1.5))] = False
    if rng.random() < _LATE_START:
        received[: int(rng.uniform(0, _MOST_MISSED) * n)] = False
    if rng.random() < _EARLY_END:
        received[n - int(rng.uniform(0, _MOST_MISSED) * n) :] = False
    if not received.any():  # an outage as long as the span, where that is a few days
        received[0] = True
    return received


def _in_order(jobs: Iterable[Callable[[], Meter]]) -> Generator[Meter]:
    """Run the jobs in threads, a few ahead of the one whose result is wanted next."""
    threads = os.cpu_count() or 1
    ahead: deque[Future[Meter]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for job in jobs:
                ahead.append(pool.submit(job))
                if len(ahead) > 4 * threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()


def _table(code: int, meter: Meter, setting: Setting) -> pa.Table:
    codes = np.full(len(meter.row), code, dtype=np.int32)
    columns = [codes, setting.time[meter.row], meter.kwh]
    return pa.table(columns, schema=READINGS_SCHEMA)


class _RowGroups:
    """Writes whole row groups of tables that come in smaller or larger pieces."""

    def __init__(self, writer: pq.ParquetWriter) -> None:
        self._writer = writer
        self._waiting: list[pa.Table] = []
        self._rows = 0

    def add(self, table: pa.Table) -> None:
        self._waiting.append(table)
        self._rows += table.num_rows
        if self._rows >= ROW_GROUP_SIZE:
            self._write(self._rows // ROW_GROUP_SIZE * ROW_GROUP_SIZE)

    def finish(self) -> None:
        if self._rows:
            self._write(self._rows)

    def _write(self, rows: int) -> None:
        table = pa.concat_tables(self._waiting)
        self._writer.write_table(table.slice(0, rows), row_group_size=ROW_GROUP_SIZE)
        self._waiting = [table.slice(rows)]
        self._rows -= rows


def _households_table(
    ids: list[str], homes: list[Home], accounts: np.ndarray, setting: Setting
) -> pa.Table:
    count, first, last = accounts.astype(np.int64).T
    none = np.zeros(len(ids), dtype=np.int64)
    return pa.table(
        {
            "household": ids,
            "input": count,
            "accepted": count,
            "collapsed": none,
            "rejected": none,
            "first": setting.time[first],
            "last": setting.time[last],
            "missing_share": 1 - count / setting.n,
            "dwelling": [home.dwelling for home in homes],
            "occupants": np.array([home.occupants for home in homes], dtype=np.int64),
            "tariff": [home.tariff for home in homes],
            "region": [home.region for home in homes],
        }
    )


def _truth_table(ids: list[str], planted: Mapping[int, Anomaly]) -> pa.Table:
    rows = [
        {
            "household": ids[code],
            "kind": anomaly.kind,
            "slots": anomaly.slots,
            "description": anomaly.description,
        }
        for code, anomaly in planted.items()
    ]
    return pa.Table.from_pylist(rows, schema=TRUTH_SCHEMA)


def _health(accepted: int, households: int) -> dict[str, object]:
    few = f"no anomalies are planted among fewer than {LEAST_HOUSEHOLDS} households"
    return {
        "input": accepted,
        "accepted": accepted,
        "collapsed": 0,
        "rejected": 0,
        "rejected_by_reason": {},
        "examples": {},
        "notices": [few] if households < LEAST_HOUSEHOLDS else [],
    }
