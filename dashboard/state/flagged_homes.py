"""The worklist of a page: flags on households, who makes them, and what a kWh costs."""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import param

from core.anomalies import Anomalies
from core.errors import InputError
from core.readings import Dataset
from core.worklist import Flag, Worklist, case_table, merge
from core.worklist.verdicts import is_decided
from dashboard.state.saved_groups import whole_letters

_PRICE = re.compile(r"(?P<before>[^\d.,+−-]*)(?P<number>[\d.,]+)(?P<after>[^\d.,]*)")
_LONGEST_NAME = 60


class FlaggedHomes(param.Parameterized):
    """Flags that one visitor sees; those of others come in by files and are never lost."""

    worklist: Any = param.ClassSelector(class_=Worklist, default=Worklist(), doc="All flags")
    by: Any = param.String(default="", label="Your name", doc="Who flags; may be empty")
    price: Any = param.String(
        default="", label="Price of a kWh", doc="As people write it, such as £0.30"
    )

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(worklist=Worklist(dataset=dataset.digest))
        self._dataset = dataset
        self.own: frozenset[Flag] = frozenset()  # what this visit added

    def flag(self, household: str, verdict: str, *, note: str = "") -> None:
        """Put a household on the list, or give it another verdict or note."""
        known = self.worklist.cases().get(household)
        if known is None or (known.verdict, known.note) != (verdict.strip(), note):
            by = self.by.strip()[:_LONGEST_NAME]
            self._add(self.worklist.flag(household, verdict, note=note, by=by))

    def remove(self, household: str) -> None:
        """Take a household off the list; a file keeps what was said of it."""
        self._add(self.worklist.remove(household, by=self.by.strip()[:_LONGEST_NAME]))

    def merge(self, other: Worklist) -> None:
        """Add the flags of somebody else, or of another day."""
        self._add(merge([self.worklist, other]))

    def _add(self, worklist: Worklist) -> None:
        self.own |= worklist.flags - self.worklist.flags
        self.worklist = worklist

    def restore(self, own: frozenset[Flag]) -> None:
        """Have just these flags of this visit, as after undo or redo; all others stay."""
        flags = (self.worklist.flags - self.own) | own
        self.own = own
        self.worklist = Worklist(flags, self.worklist.dataset)

    def verdict_of(self, household: str) -> str:
        """The verdict on a household; empty if it is not on the list."""
        return self.verdicts([household])[0]

    def verdicts(self, households: Iterable[str]) -> list[str]:
        """The verdicts on some households; empty for those that are not on the list."""
        cases = self.worklist.cases()
        return [cases[home].verdict if home in cases else "" for home in households]

    def progress(self) -> tuple[int, int]:
        """How many households have a verdict, and how many are on the list."""
        verdicts = [case.verdict for case in self.worklist.cases().values()]
        return sum(map(is_decided, verdicts)), len(verdicts)

    def cases(self, anomalies: Anomalies | None, *, verdict: str = "") -> Any:
        """The list as a table, see :func:`core.worklist.case_table`; of one verdict if named."""
        table = case_table(self.worklist, anomalies, price=self.money()[0])
        return table[table["verdict"] == verdict] if verdict else table

    def cases_csv(self, anomalies: Anomalies | None, *, verdict: str = "") -> str:
        """The list with all that is known of its households, as CSV."""
        from core.export.table_files import defuse

        cases = self.cases(anomalies, verdict=verdict)
        return defuse(self._dataset.with_metadata(cases)).to_csv(index=False)

    def money(self) -> tuple[float | None, str]:
        """The price of a kWh, None where there is none, and its currency."""
        with suppress(InputError):
            return parse_price(self.price)
        return None, ""

    # What is kept in the browser

    def to_json(self) -> dict[str, Any]:
        """What the browser keeps."""
        return {"worklist": self.worklist.to_json(), "by": self.by, "price": self.price}

    def take_in(self, kept: Any, before: Any = None) -> None:
        """Take what the browser keeps; it is from outside, so what is damaged is left out.

        ``before`` is what it kept before another page changed that: what that page took back is
        taken back here, too.
        """
        new, old = (each if isinstance(each, dict) else {} for each in (kept, before))
        with suppress(InputError):
            theirs = Worklist.from_json(new.get("worklist"))
            were = Worklist.from_json(old["worklist"]) if "worklist" in old else Worklist()
            added = Worklist(theirs.flags - were.flags, theirs.dataset)
            found, gone = merge([self.worklist, added]), were.flags - theirs.flags
            self.own -= gone
            self.worklist = Worklist(found.flags - gone, found.dataset)
        for name in ("by", "price"):
            if isinstance(text := new.get(name), str) and text != old.get(name, ""):
                setattr(self, name, whole_letters(text[:_LONGEST_NAME]))


def parse_price(text: str) -> tuple[float | None, str]:
    """Return the number and the currency of a price such as ``£0.30`` or ``0,30 €``."""
    if not text.strip():
        return None, ""
    found = _PRICE.fullmatch(text.strip())
    try:
        price = float(found["number"].replace(",", ".")) if found else 0.0
    except ValueError:
        price = 0.0
    if found is None or not 0 < price < 1e6:
        raise InputError("A price is a number above 0, such as 0.30 or £0.30")
    return price, (found["before"] + found["after"]).strip()
