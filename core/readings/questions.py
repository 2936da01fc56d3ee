"""Errors that end when the user says more: what is in doubt, and the options that settle it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import InputError
from core.readings.options import as_command


@dataclass(frozen=True)
class Choice:
    """One answer: what it means in words, and the fields of ``IngestOptions`` that say it."""

    label: str
    options: Mapping[str, Any] = field(default_factory=dict)


class UndecidedError(InputError):
    """A file can be read in several ways, and only the user can say which one is right.

    Attributes
    ----------
    topic : str
        The field of ``IngestOptions`` that is in doubt.
    problem : str
        What is in doubt and where, without a word of the command line.
    choices : tuple of Choice
        The answers that make sense; following one of them leads past this error. Empty where the
        user has to write the answer.
    example : str, optional
        How an answer is written that is in no list.
    """

    def __init__(
        self,
        topic: str,
        problem: str,
        choices: Sequence[Choice] = (),
        *,
        example: str | None = None,
    ) -> None:
        self.topic = topic
        self.problem = problem
        self.choices = tuple(choices)
        self.example = example
        shown = [as_command(choice.options) for choice in self.choices[:6]]
        more = f" and {len(self.choices) - 6} more" if len(self.choices) > 6 else ""
        cure = f"choose with {' or '.join(shown)}{more}"
        if example is not None:
            cure = f"say it as in {as_command({topic: example})}"
        super().__init__(f"{problem}; {cure}")


def choose_column(topic: str, problem: str, columns: Sequence[str]) -> UndecidedError:
    """Return the error that asks for one of several columns."""
    plural = topic.endswith("s")
    return UndecidedError(
        topic,
        problem,
        [Choice(name, {topic: (name,) if plural else name}) for name in columns],
    )
