"""Tables as suppliers of several countries write them: one home, two days, energy as it was."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_ingestion import assert_accounts

from core.readings import Dataset, IngestOptions, UndecidedError, ingest

TIMES = pd.date_range("2013-03-12", periods=2 * 96, freq="15min")
KWH = np.random.default_rng(2).gamma(2, 0.05, len(TIMES)).round(4)


def write(path: Path, header: str, *rows: str) -> Path:
    """Write a table; rows say how a reading is written, with its place, time, end and value."""
    text = [header]
    for number, (time, kwh) in enumerate(zip(TIMES, KWH, strict=True)):
        end = time + pd.Timedelta("15min")
        comma = f"{kwh:.4f}".replace(".", ",")
        before = KWH[:number]
        night = before[TIMES[:number].hour < 7].sum()
        low, high = f"{night:.4f}", f"{before.sum() - night:.4f}"
        text += [
            row.format(time=time, end=end, kwh=f"{kwh:.4f}", comma=comma, low=low, high=high)
            for row in rows
        ]
    path.write_text("\n".join(text) + "\n")
    return path


def ingested(source: Path, **options: object) -> Dataset:
    dataset = ingest([source], source.with_name("d"), options=IngestOptions(**options))
    assert_accounts(dataset)
    return dataset


def assert_right(dataset: Dataset, household: str, readings: int = len(TIMES)) -> None:
    assert dataset.households.household.tolist() == [household]
    found = dataset.readings(household)
    assert found.time.tolist() == TIMES[:readings].tolist()
    np.testing.assert_allclose(found.kwh, KWH[:readings], atol=2e-4)


FLUVIUS = (
    "{time:%d-%m-%Y};{time:%H:%M:%S};{end:%d-%m-%Y};{end:%H:%M:%S};1SAG1100123456;Digitale meter;"
)
TABLES = {
    "import and export in German": (
        "home", "Zeit;Netzbezug (kWh);Netzeinspeisung (kWh)",
        "{time:%d.%m.%Y %H:%M};{comma};0,3",
    ),
    "rows of registers in Dutch, and a meter whose number begins like a date": (
        "1SAG1100123456",
        "Van (datum);Van (tijdstip);Tot (datum);Tot (tijdstip);Meter;Metertype;Register;Volume;"
        "Eenheid;Validatiestatus;Omschrijving",
        FLUVIUS + "Afname Dag;{comma};kWh;Gevalideerd;",
        FLUVIUS + "Injectie Dag;0,5;kWh;Gevalideerd;",
    ),
    "start and end in Danish": (
        "571313", "MålepunktsID;Fra_dato;Til_dato;Mængde;Måleenhed;Kvalitet;Type",
        "571313;{time:%d-%m-%Y %H:%M:%S};{end:%d-%m-%Y %H:%M:%S};{comma};KWH;Målt;Tidsserie",
    ),
    "a number of the meter in Finnish": (
        "643007572000000001", "Mittauspisteen tunnus;Yksikkötyyppi;Alkuaika;Määrä;Laatu",
        "643007572000000001;kWh;{time:%Y-%m-%dT%H:%M:%S};{comma};OK",
    ),
    "the date of a revision beside that of use": (
        "1044", "ESIID,USAGE_DATE,REVISION_DATE,USAGE_START_TIME,USAGE_END_TIME,USAGE_KWH",
        "1044,{time:%m/%d/%Y},03/15/2013 06:00:00, {time:%H:%M}, {end:%H:%M},{kwh}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_a_supplier(name, tmp_path):
    household, header, *rows = TABLES[name]
    assert_right(ingested(write(tmp_path / "home.csv", header, *rows)), household)


def test_registers_of_two_tariffs_are_one_home(tmp_path):
    source = write(
        tmp_path / "home.csv", "time,Import T1 kWh,Import T2 kWh,Export T1 kWh",
        "{time:%Y-%m-%d %H:%M},{low},{high},0",
    )  # fmt: skip
    with pytest.raises(UndecidedError) as asked:
        ingested(source)
    [together, *_] = asked.value.choices
    assert_right(ingested(source, **together.options), "home", len(TIMES) - 1)


SGSC_COLUMNS = "CUSTOMER_ID,READING_DATETIME,GENERAL_SUPPLY_KWH"


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        ("time;kWh", "{end:%Y-%m-%d %H:%M};{comma}"),
        (SGSC_COLUMNS, "home,{end:%Y-%m-%d %H:%M:%S},{kwh}"),
    ],
)
def test_days_that_end_at_midnight_are_pointed_out(tmp_path, columns, row):
    source = write(tmp_path / "home.csv", columns, row)
    said = "check whether its times mark the end of their intervals"
    assert said in str(ingested(source).health["notices"])
    right = ingested(source, stamp="end")
    assert said not in str(right.health["notices"])
    assert_right(right, "home")


def test_a_second_register_of_demand_is_pointed_out(tmp_path):
    cells = ",".join(["0.25"] * 48)
    records = [
        line
        for register in ("E1", "E2")
        for line in (f"200,6102,E1E2,{register},{register},N1,M1,kWh,30,",
                     f"300,20130312,{cells},A,,,20130401000000,")
    ]  # fmt: skip
    (tmp_path / "a.csv").write_text("\n".join(["100,NEM12,2013,MDP,RET", *records, "900"]))
    dataset = ingested(tmp_path / "a.csv")
    assert "that of 'E2' is not added to it" in dataset.health["notices"][0]
