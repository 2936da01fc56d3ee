"""What the name of a column says: a part of the calendar, the weather, a price, a household."""

import re
from typing import Literal

from core.readings.energy_units import unit_in_name

Kind = Literal[
    "id", "calendar", "weather", "money", "other quantity", "total", "export", "import",
    "quality", "unit", "direction", "attribute",
]  # fmt: skip


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ID_WORDS = {
    "id", "household", "house", "home", "meter", "customer", "customerkey", "dataid", "lclid",
    "nmi", "mpan", "mprn", "cups", "site", "user", "account", "client", "icp", "meternumber",
    "meterno", "meterserialnumber", "serialnumber", "serial", "msn", "premise", "premises", "prm",
    "meteringpoint", "dwellingid", "householdnumber", "housenumber", "homenumber", "mpxn", "pod",
    "ean", "customernumber", "accountnumber", "meterpoint", "consumer", "zaehler", "zähler",
    "zaehlernummer", "zählernummer", "compteur", "contador", "eancode", "zaehlpunkt", "zählpunkt",
    "marktlokation", "messlokation", "pdl", "mittauspisteentunnus", "käyttöpaikka",
}  # fmt: skip
_CALENDAR_WORDS = {
    "year", "month", "week", "weekofyear", "weeknumber", "day", "dayofweek", "dayofmonth",
    "dayofyear", "dow", "doy", "wday", "yday", "mday", "weekday", "weekend", "isweekend", "hour",
    "minute", "halfhour", "period", "slot", "quarter", "season", "holiday", "isholiday", "dst",
    "index", "unnamed0", "row", "rownumber", "rownum", "no", "nr", "mdate", "monthname",
    "dayname", "daytype", "date", "time", "hourofday", "timeofday", "bankholiday", "yearmonth",
    "settlementperiod", "hourending", "hod", "tod", "school holiday", "workday", "workingday", "",
}  # fmt: skip
_WORDS: dict[Kind, frozenset[str]] = {
    "weather": _set(
        "temp temps temperature temperatures tempc tempf temperaturec humidity humid rain "
        "rainfall precipitation wind windspeed irradiance irradiation ghi dni cloud "
        "cloudcover clouds pressure dewpoint weather hdd cdd sunshine visibility radiation "
        "snow snowfall outdoor temperatur"
    ),
    "money": _set(
        "cost costs price prices tariff rate charge charges bill amount gbp eur usd aud "
        "pence pounds euro euros dollars vat kosten preis £ $ €"
    ),
    "other quantity": _set(
        "voltage volt volts current amp amps ampere frequency hz pf kva kvar kvarh kvah var "
        "varh vah reactive apparent gas water m3 co2 carbon emissions emission intensity "
        "co2e occupancy occupants latitude longitude lat lon lng soc"
    ),
    "export": _set(
        "export exported exports generation generated solar pv feedin production produced "
        "injected injection returned surplus einspeisung netzeinspeisung eingespeist injectie "
        "teruglevering vertido excedente"
    ),
    "import": _set("import imported imports bezug netzbezug afname soutirage"),
    "total": _set(
        "total totals sum subtotal grandtotal average avg mean median aggregate aggregated "
        "overall gesamt summe somme totaal totale all min max minimum maximum std stdev "
        "count"
    ),
    "quality": _set(
        "quality flag flags status validation estimated estimate notes note comment "
        "comments remark remarks valid error errors qualityflag validatiestatus kvalitet laatu"
    ),
    "unit": _set(
        "unit units uom einheit eenheid måleenhed enhet yksikkö yksikkötyyppi unité unite unidad"
    ),
    "direction": _set(
        "direction flow register channel measurement stream type readingtype "
        "measurementquantity quantity obis registerid suffix nmisuffix datastream metertype"
    ),
    "attribute": _set(
        "tariff acorn region postcode dwelling service group category class address name "
        "city country source fuel stdortou acorngrouped location zone feeder supplier"
    ),
}
# Words that say what is measured, and nothing of whom.
_QUANTITY_WORDS = _set(
    "energy power consumption consumed usage used use demand load value values reading "
    "readings electricity electric electrical active import imported export exported "
    "net grid half hour hourly hh per interval meter data amount delivered general "
    "supply total in the generation generated solar pv feedin production of from to "
    "kilowatt watt val kvarh verbrauch wert register cumulative index peak offpeak off "
    "day night standard rate counter bezug netzbezug afname leistung wirkleistung wirkarbeit "
    "zählerstand zaehlerstand consommation valeur puissance consumo valor verbruik volume "
    "meterstand forbrug förbrukning forbruk mængde mängd määrä kulutus"
)
# Beside those words, what a register of one price is called.
_TARIFFS = _set("t1 t2 ht nt hp hc")
# Words that streets and families bear, too: they count where no other word stands beside them.
_WEAK_WORDS = _set(
    "rain wind cloud clouds snow outdoor pressure gas water current rate amount all min "
    "max mean count carbon type group class name source service stream flow note error "
    "bill charge"
)
_BESIDE = _set("air ambient external outside c f speed mean max min daily avg level")
_KNOWN_WORDS = frozenset().union(*_WORDS.values(), _QUANTITY_WORDS, _BESIDE)
_END_WORDS = _set("end ending to until ende bis fin finish til till tot hasta loppuaika")
_START_WORDS = _set(
    "start starting from begin beginning von beginn debut fra från van desde alkuaika"
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
EXPORT_CODES = frozenset(
    {"export", "exp", "ae", "a-", "b1", "2.8.0", "generation", "solar", "pv", "feedin", "e-",
     "production", "re", "einspeisung", "injectie", "injectiedag", "injectienacht"}
)  # fmt: skip
IMPORT_CODES = frozenset(
    {"import", "imp", "ai", "a+", "e1", "1.8.0", "consumption", "usage", "delivered", "general",
     "electricusage", "electricityusage", "activeimport", "bezug", "afname", "afnamedag",
     "afnamenacht"}
)  # fmt: skip


def plain(name: str) -> str:
    """Return a name in lower case without signs, unless it is nothing but signs."""
    return re.sub(r"[\W_]", "", name.lower()) or name.strip()


def words(name: str) -> list[str]:
    """Return the words of a name in lower case; camel case and signs divide them."""
    return [word for word in re.split(r"[\W_]+", _CAMEL.sub(" ", name).lower()) if word]


# A sign that stands by itself, as in "Cost (£)" and "€/kWh".
_CURRENCY = re.compile(r"(?:^|[\s(\[/_-])[£$€](?=$|[\s)\]/_-])")


def kinds(name: str) -> set[Kind]:
    """Return all that a name may be, beside a household and a reading."""
    found: set[Kind] = set()
    parts = {*words(name), plain(name)}
    if not set(words(unit_in_name(name)[1])) <= _KNOWN_WORDS:
        parts -= _WEAK_WORDS
    if "°" in name or "temperature" in name.lower():
        found.add("weather")
    if _CURRENCY.search(name):
        found.add("money")
    if plain(name) in _CALENDAR_WORDS:
        found.add("calendar")
    if is_id_name(name):
        found.add("id")
    if "feed" in parts and "in" in parts:
        found.add("export")
    found |= {kind for kind, known in _WORDS.items() if parts & known}
    return found


def is_no_reading(name: str) -> bool:
    """Whether a name is that of something which no column of readings is called."""
    return bool(kinds(name) & {"calendar", "weather", "money", "other quantity", "quality"})


def why_ignored(name: str) -> str:
    """Return what a column that is left aside is, in a word or two."""
    order: tuple[Kind, ...] = (
        "weather", "money", "other quantity", "export", "total", "quality", "calendar", "unit",
        "direction", "id",
    )  # fmt: skip
    found = kinds(name)
    if not found and (marks_end(name) or marks_start(name)):
        return "other end of the interval"
    return next((kind for kind in order if kind in found), "other")


def is_total(name: str) -> bool:
    """Whether a name is that of a sum or a mean of others, and of nothing else."""
    rest = set(words(unit_in_name(name)[1])) - _QUANTITY_WORDS
    return "total" in kinds(name) and not rest - _WORDS["total"]


def is_rate(name: str) -> bool:
    """Whether a name is that of a part of the day with a price of its own."""
    return bool({"peak", "offpeak", "off", "shoulder", "night", "day", "high", "low", "rate",
                 "economy", *_TARIFFS} & set(words(name)))  # fmt: skip


def is_quantity(name: str) -> bool:
    """Whether a name says what is measured and not of whom, such as ``energy(kWh)``."""
    unit, rest = unit_in_name(name)
    parts = set(words(rest))
    rest_of_name = parts - _TARIFFS if parts & _QUANTITY_WORDS else parts
    return (unit is not None or bool(parts)) and rest_of_name <= _QUANTITY_WORDS


def is_id_name(name: str) -> bool:
    """Whether a name is that of a column of households."""
    bare = plain(name)
    return (
        bare in _ID_WORDS
        or any(bare == word + "id" for word in _ID_WORDS)
        or (bare.endswith("id") and re.search(r"[a-z]Id$|ID$|[_ ]id$", name.strip()) is not None)
    )


def marks_end(name: str) -> bool:
    """Whether a name says that times mark the end of their interval."""
    return bool(_END_WORDS & set(words(name)))


def marks_start(name: str) -> bool:
    """Whether a name says that times mark the start of their interval."""
    return bool(_START_WORDS & set(words(name)))
