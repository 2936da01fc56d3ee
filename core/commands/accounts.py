"""What became of the readings of a dataset, for machines and for people."""

from typing import Any

from core.readings.dataset import Dataset


def dataset_accounts(dataset: Dataset) -> dict[str, Any]:
    """Return the accounts of a dataset; ``readings`` is what was given, accepted or not."""
    households, health = dataset.households, dataset.health
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
    ]
    if result["metadata"]:
        lines.append(f"metadata      {', '.join(result['metadata'])}")
    for reason, count in result["rejected_by_reason"].items():
        example = result["examples"].get(reason, [None])[0]
        where = f"   first: {example['file']}, line {example['line']}" if example else ""
        lines.append(f"  rejected    {count:,} × {reason}{where}")
    lines += [f"note          {notice}" for notice in result["notices"]]
    return "\n".join(lines)


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")
