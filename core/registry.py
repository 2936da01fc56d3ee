"""Named choices with described parameters: backends, methods, formats.

A choice is registered once, with its parameters, their bounds and their help. The command line,
the page and the documentation read the registry; none of them lists the choices again.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from core.errors import InputError

Value = int | float | str | bool


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One setting of a backend, a method or a run: its name, default, bounds and meaning."""

    name: str
    default: Value
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""
    # Of a neighbour backend: whether an index that is built can be searched with another value.
    at_query: bool = False

    @property
    def kind(self) -> type:
        """The Python type of the value: bool, int, float or str."""
        return type(self.default)

    @property
    def flag(self) -> str:
        """The command-line spelling, such as ``--n-trees``."""
        return "--" + self.name.replace("_", "-")

    @property
    def options(self) -> tuple[str, ...]:
        """The allowed values; empty where they are not a list."""
        return self.choices

    @property
    def default_words(self) -> str:
        """The default in words."""
        return f"{self.default:g}" if self.kind is float else str(self.default)

    @property
    def bounds(self) -> str:
        """The allowed values in words."""
        if self.options:
            return "one of " + ", ".join(self.options)
        if self.kind is bool:
            return "true or false"
        noun = "a whole number" if self.kind is int else "a number"
        if self.low is not None and self.high is not None:
            return f"{noun} from {self.low:g} to {self.high:g}"
        if self.low is not None:
            return f"{noun} of at least {self.low:g}"
        if self.high is not None:
            return f"{noun} of at most {self.high:g}"
        return noun

    def validate(self, value: Any) -> Value:
        """Return the value in its own type, or say which bound it breaks."""
        problem = InputError(f"{self.name} must be {self.bounds}, got {value!r}")
        if self.options:
            if value not in self.options:
                raise problem
            return str(value)
        if self.kind is bool:
            if not isinstance(value, bool):
                raise problem
            return value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise problem
        try:
            finite = math.isfinite(value)
        except OverflowError:  # a whole number beyond every float
            raise problem from None
        if not finite or (self.kind is int and value != int(value)):
            raise problem
        if (self.low is not None and value < self.low) or (
            self.high is not None and value > self.high
        ):
            raise problem
        return int(value) if self.kind is int else float(value)


class Described(Protocol):
    """What the registry asks of an entry."""

    @property
    def name(self) -> str:
        """What people type to choose it."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its settings."""


Entry = TypeVar("Entry", bound=Described)


class Registry(Mapping[str, Entry], Generic[Entry]):
    """Entries by name, in the order in which people should see them."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._entries: dict[str, Entry] = {}

    def register(self, entry: Entry) -> Entry:
        """Add an entry; its name must be new."""
        if entry.name in self._entries:
            raise ValueError(f"{self.what} {entry.name!r} is registered twice")
        self._entries[entry.name] = entry
        return entry

    def __getitem__(self, name: str) -> Entry:
        try:
            return self._entries[name]
        except KeyError:
            names = ", ".join(self._entries)
            raise InputError(f"there is no {self.what} {name!r}; choose one of {names}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def settings(self, name: str, given: Mapping[str, Any]) -> dict[str, Value]:
        """All parameters of one entry: those given, validated, and defaults for the rest."""
        known = {parameter.name: parameter for parameter in self[name].parameters}
        for extra in given.keys() - known.keys():
            takes = ", ".join(known) or "no parameters"
            raise InputError(f"{self.what} {name!r} has no parameter {extra!r}; it takes {takes}")
        return {
            key: parameter.validate(given.get(key, parameter.default))
            for key, parameter in known.items()
        }
