"""``wattfold worklist``: households to look into, what was found, and more of the same kind."""

import argparse
import time
from pathlib import Path
from typing import Any

from core.commands._run_flags import add_flag, read_fields
from core.errors import InputError
from core.fields import FIELDS
from core.progress import Progress, part
from core.worklist.verdicts import VERDICTS

NAME = "worklist"
HELP = "keep a list of households to look into, print their cases, and find more of a kind"

_PERIOD = ("first_day", "last_day", "months", "seed")
_MORE = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("list", metavar="LIST", help="the worklist, a JSON file; made if need be")
    parser.add_argument(
        "dataset",
        metavar="DIR",
        nargs="?",
        help="the dataset: adds evidence to the list; needed to flag, print and find more",
    )
    flags = parser.add_argument_group("add to the list")
    flags.add_argument(
        "--flag",
        metavar="ID[=VERDICT]",
        action="append",
        default=[],
        help=f"put a household on the list; verdicts are {', '.join(VERDICTS)} or own words",
    )
    flags.add_argument("--top", type=int, metavar="N", help="put the N most unusual on the list")
    flags.add_argument("--note", default="", metavar="TEXT", help="a note to what is flagged")
    flags.add_argument("--by", default="", metavar="NAME", help="who flags")
    flags.add_argument(
        "--remove", metavar="ID", action="append", default=[], help="take a household off the list"
    )
    flags.add_argument(
        "--merge",
        metavar="LIST",
        action="append",
        default=[],
        help="add another person's list; nothing is lost, whatever the order",
    )
    made = parser.add_argument_group("what to make of it")
    made.add_argument("--verdict", metavar="VERDICT", help="show the cases with this verdict alone")
    made.add_argument("--price", type=float, metavar="X", help="of a kWh: turns kWh into money")
    made.add_argument("--currency", default="", metavar="TEXT", help="written before money")
    made.add_argument(
        "--more-like",
        metavar="VERDICT|ID,ID",
        help="rank the other households by what those with this verdict, or these, have in common",
    )
    made.add_argument("--out", metavar="FILE", help="write the cases to FILE.csv or .parquet")
    made.add_argument("--case-file", metavar="FILE", help="print the cases to FILE.pdf")
    period = parser.add_argument_group("which readings")
    for name in _PERIOD:
        add_flag(period, FIELDS[name])


def run(arguments: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Change the list, write what is asked for, and return the JSON."""
    from core.commands._output_tables import FORMATS, destination, json_rows, write_frame
    from core.worklist import Worklist, case_table, merge, precision_by_detector, read_worklist

    start = time.perf_counter()
    out = destination("--out", arguments.out, FORMATS)
    case_file = destination("--case-file", arguments.case_file, (".pdf", ".PDF"))
    path = Path(arguments.list)
    before = read_worklist(path) if path.exists() else Worklist()
    worklist = merge([before, *(read_worklist(other) for other in arguments.merge)])
    evidence = _Evidence(arguments)
    if evidence.dataset is not None:
        if worklist.dataset not in ("", evidence.dataset.digest):
            raise InputError(
                f"{path} belongs to another dataset, or to an earlier state of "
                f"{arguments.dataset}; open the dataset that it was made for, or start a new list"
            )
        worklist = Worklist(worklist.flags, evidence.dataset.digest)
        for text in arguments.flag:
            evidence.dataset.code(text.partition("=")[0])
        evidence.judge(progress)
    worklist = _change(worklist, arguments, evidence)
    if worklist != before:
        worklist.save(path)
    cases = case_table(worklist, evidence.anomalies, price=arguments.price)
    if arguments.verdict is not None:
        cases = cases[cases["household"].isin(worklist.with_verdict(arguments.verdict))]
    result: dict[str, Any] = {
        "n": len(cases),
        "counts": worklist.counts(),
        "disputed": [case.household for case in worklist.cases().values() if case.disputed],
        "cases": json_rows(cases),
        "precision": [],
        "currency": arguments.currency,
        "notices": list(evidence.notices),
    }
    if evidence.anomalies is not None:
        result["precision"] = json_rows(precision_by_detector(cases))
    if arguments.more_like is not None:
        result["more_like"] = _more_like(worklist, arguments.more_like, evidence)
    if out:
        described = {"dataset": worklist.dataset, "price": arguments.price}
        known = cases if evidence.dataset is None else evidence.dataset.with_metadata(cases)
        write_frame(known, out, described)
        result["out"] = str(out)
    if case_file:
        from core.worklist import write_case_file

        write_case_file(
            cases,
            evidence.need("--case-file"),
            evidence.weeks,
            case_file,
            currency=arguments.currency,
            progress=part(progress, 0.8, 1.0),
        )
        result["case_file"] = str(case_file)
    result["seconds"] = {"worklist": round(time.perf_counter() - start, 3)}
    progress(1.0, "Done")
    return result


class _Evidence:
    """The dataset, and what is known of its households."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.dataset: Any = None
        self.anomalies: Any = None
        self.weeks: Any = None
        self.notices: tuple[str, ...] = ()
        self._arguments = arguments
        if arguments.dataset is not None:
            from core.readings import Dataset

            self.dataset = Dataset.open(arguments.dataset)

    def judge(self, progress: Progress) -> None:
        """Rank the households; where they are too few for that, say so."""
        from core.anomalies import read_weeks
        from core.runs import RunConfig, Store
        from core.runs.anomaly_stage import keep_anomalies

        config = RunConfig(**read_fields(self._arguments))
        self.weeks = read_weeks(
            self.dataset, period=config.period, progress=part(progress, 0.0, 0.2)
        )
        try:
            self.anomalies = keep_anomalies(
                self.dataset, config, Store.default(), progress=part(progress, 0.2, 0.8)
            )
        except InputError as error:
            self.notices = (f"without evidence of anomalies: {error}",)

    def need(self, flag: str) -> Any:
        """Return the dataset, or say that a flag needs it."""
        if self.dataset is None:
            raise InputError(f"{flag} needs the dataset; name it after the list")
        return self.dataset


def _change(worklist: Any, arguments: argparse.Namespace, evidence: _Evidence) -> Any:
    """Add flags, and take off what is to be taken off."""
    options = {"note": arguments.note, "by": arguments.by}
    wanted = [text.partition("=") for text in arguments.flag]
    if arguments.top is not None:
        evidence.need("--top")
        if evidence.anomalies is None or arguments.top < 1:
            raise InputError("--top needs a number above 0 and households that can be ranked")
        known = worklist.cases()
        first = evidence.anomalies.table["household"].head(arguments.top)
        wanted += [(each, "", "") for each in first if each not in known]
    for household, _, verdict in wanted:
        evidence.need("--flag")
        worklist = worklist.flag(household, verdict or "open", **options)
    for household in arguments.remove:
        worklist = worklist.remove(household, by=arguments.by)
    return worklist


def _more_like(worklist: Any, text: str, evidence: _Evidence) -> dict[str, Any]:
    from core.commands._output_tables import json_rows
    from core.runs.reproduce import split_ids
    from core.worklist import more_like

    evidence.need("--more-like")
    flagged = worklist.with_verdict(text)
    if not flagged:
        ids = split_ids(text)
        if not set(ids) <= set(evidence.weeks.households):
            raise InputError(
                f"no household on the list has the verdict {text!r}, and it is no list of "
                f"households; verdicts so far: {', '.join(worklist.counts()) or 'none'}"
            )
        flagged = ids
    found = more_like(evidence.weeks, flagged)
    return {
        "flagged": flagged,
        "in_common": list(found.in_common),
        "households": json_rows(found.table.head(_MORE)),
        "notices": list(found.notices),
    }


def render(result: dict[str, Any]) -> str:
    """Say what is on the list."""
    from core.worklist.cases import money_text

    counts = ", ".join(f"{count} {verdict}" for verdict, count in result["counts"].items())
    lines = [f"worklist      {counts or 'no household is on it'}", ""]
    for case in result["cases"]:
        size = case.get("kwh_per_week")
        told = [case.get("reason") or ""]
        told += [f"{size:+.0f} kWh a week"] if size else []
        money = case.get("money_per_year")
        told += [f"{money_text(money, result['currency'])} a year"] if money else []
        told += [f"note: {case['note']}"] if case["note"] else []
        lines.append(
            f"{case['household']:<14} {case['verdict']:<10} "
            + "; ".join(text for text in told if text)
            + (" [disputed]" if case["disputed"] else "")
        )
    looked = [row for row in result["precision"] if row["looked"]]
    if looked:
        lines += ["", "right so far"]
        lines += [
            f"  {row['detector']:<12} {row['hits']} of {row['looked']} "
            f"(95 %: {row['low']:.0%} to {row['high']:.0%})"
            for row in looked
        ]
    if "more_like" in result:
        lines += ["", *_more_lines(result["more_like"])]
    lines += [f"note          {notice}" for notice in result["notices"]]
    lines += [f"written       {result[name]}" for name in ("out", "case_file") if name in result]
    return "\n".join(lines)


def _more_lines(more: dict[str, Any]) -> list[str]:
    common = ", ".join(more["in_common"]) or "nothing unusual"
    lines = [f"more like {', '.join(more['flagged'][:5])} (in common: {common})"]
    lines += [
        f"  {row['household']:<14} {row['similarity']:.2f}  {row['shares']}"
        for row in more["households"]
    ]
    return [*lines, *(f"  note: {notice}" for notice in more["notices"])]
