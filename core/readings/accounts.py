"""What became of the readings of a dataset, for machines and for people."""

from collections.abc import Mapping
from typing import Any

from core.readings import Dataset
from core.readings.energy_units import is_plausible


def dataset_accounts(dataset: Dataset) -> dict[str, Any]:
    """Return the accounts of a dataset; ``readings`` is what was given, accepted or not."""
    households, health, manifest = dataset.households, dataset.health, dataset.manifest
    return {
        "path": str(dataset.path),
        "households": len(households),
        "readings": health["input"],
        "accepted": health["accepted"],
        "collapsed": health["collapsed"],
        "rejected": health["rejected"],
        "rejected_by_reason": health["rejected_by_reason"],
        "interval_minutes": dataset.interval_minutes,
        "first": households["first"].min().isoformat(),
        "last": households["last"].max().isoformat(),
        "missing_share": round(float(households["missing_share"].mean()), 6),
        "unit": manifest.get("unit", "kWh"),
        "unit_because": manifest.get("unit_because", "not recorded"),
        "cumulative": manifest.get("cumulative", False),
        "cumulative_because": manifest.get("cumulative_because", "not recorded"),
        "stamp": manifest.get("stamp", "start"),
        "stamp_because": manifest.get("stamp_because", "not recorded"),
        "source_format": manifest.get("source_format"),
        "options": manifest.get("options", {}),
        "timezone": manifest.get("timezone"),
        "median_daily_kwh": manifest.get("median_daily_kwh"),
        "ignored": health.get("ignored", {"cells": {}, "columns": {}}),
        "metadata": list(dataset.metadata.columns),
        "examples": health["examples"],
        "notices": health["notices"],
    }


def accounts_text(result: dict[str, Any]) -> str:
    """Return the accounts as a few aligned lines."""
    lines = [
        f"dataset       {result['path']}",
        f"households    {result['households']:,}",
        f"readings      {result['readings']:,} = {result['accepted']:,} accepted + "
        f"{result['collapsed']:,} collapsed + {result['rejected']:,} rejected",
        f"interval      {result['interval_minutes']} minutes",
        f"from, to      {_minute(result['first'])}, {_minute(result['last'])}",
        f"missing       {result['missing_share']:.1%}",
        *(f"{name:<13} {told}" for name, told in decisions(result).items()),
    ]
    if result["metadata"]:
        lines.append(f"metadata      {', '.join(result['metadata'])}")
    for reason, count in result["rejected_by_reason"].items():
        example = result["examples"].get(reason, [None])[0]
        where = f"   first: {example['file']}, line {example['line']}" if example else ""
        lines.append(f"  rejected    {count:,} × {reason}{where}")
    ignored = result["ignored"]
    if ignored["columns"]:
        told = ", ".join(f"{name} ({why})" for name, why in list(ignored["columns"].items())[:8])
        lines.append(f"  ignored     columns: {told}")
    lines += [f"  ignored     {count:,} × {what}" for what, count in ignored["cells"].items()]
    lines += [f"note          {notice}" for notice in result["notices"]]
    return "\n".join(lines)


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


def decisions(result: Mapping[str, Any]) -> dict[str, str]:
    """Return how the files were read, and why so: what was decided in a word, and the answer."""
    kind = "a running register, differenced" if result["cumulative"] else "demand by interval"
    daily = result["median_daily_kwh"]
    odd = "" if daily is None or is_plausible(daily) else ", which no home uses: check the unit"
    told = {
        "unit": f"{result['unit']} ({result['unit_because']})",
        "values": f"{kind} ({result['cumulative_because']})",
        "times mark": f"the {result['stamp']} of their interval ({result['stamp_because']})",
    }
    if daily is not None:
        told["a day"] = f"{daily:,.3g} kWh in the median household{odd}"
    if result["options"]:
        given = result["options"].items()
        told["chosen"] = ", ".join(f"{name.replace('_', ' ')} {_option(v)}" for name, v in given)
    return told


def _option(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
