"""Where a file comes from: the run's config, the dataset's checksum and the version."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Self

from core.errors import InputError
from core.runs import Run
from core.runs.config import RunConfig

# The key of the description in the metadata of Parquet, and the id of the element in HTML.
KEY = "wattfold"

# A description of a hundred thousand households is smaller; whatever claims more is refused.
MAX_BYTES = 4 << 20
_MAX_TEXT = 200


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What it takes to make a file again.

    Attributes
    ----------
    config : RunConfig
        The run that it shows.
    dataset : str
        The digest of the dataset that the run was made of.
    version : str
        Of the Wattfold that made it.
    withheld : tuple of str
        What was left out so that nobody can be identified, in words.
    view : mapping
        How the page showed it, as JSON has it; whoever uses it must check it.
    """

    config: RunConfig
    dataset: str
    version: str
    withheld: tuple[str, ...] = ()
    view: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, run: Run, *, withheld: tuple[str, ...] = (), view: Mapping[str, Any] | None = None
    ) -> Self:
        """Describe a run that was made by this Wattfold."""
        return cls(
            config=run.config,
            dataset=run.dataset_digest,
            version=version("wattfold"),
            withheld=withheld,
            view=view or {},
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        told: dict[str, Any] = {
            "wattfold": self.version,
            "dataset": self.dataset,
            "config": self.config.to_json(),
        }
        if self.withheld:
            told["withheld"] = list(self.withheld)
        if self.view:
            told["view"] = dict(self.view)
        return told

    @classmethod
    def from_json(cls, content: Any) -> Self:
        """Read what :meth:`to_json` gave; the content may come from anybody."""
        if not isinstance(content, Mapping) or "config" not in content:
            raise InputError(
                "the file's description names no run; choose a file that Wattfold has written"
            )
        withheld, view = content.get("withheld"), content.get("view")
        return cls(
            config=RunConfig.from_json(content["config"]),
            dataset=_text(content.get("dataset")),
            version=_text(content.get("wattfold")),
            withheld=tuple(map(_text, withheld)) if isinstance(withheld, list) else (),
            view=view if isinstance(view, dict) else {},
        )

    def for_html(self) -> str:
        """Return it as JSON that holds no character which HTML could take for its own."""
        text = json.dumps(self.to_json(), sort_keys=True)
        for character in "<>&":
            text = text.replace(character, f"\\u{ord(character):04x}")
        return text


def _text(value: Any) -> str:
    return value[:_MAX_TEXT] if isinstance(value, str) else ""
