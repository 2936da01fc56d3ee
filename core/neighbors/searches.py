"""Backends with some of their parameters set, as a study compares them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.errors import InputError
from core.neighbors import BACKENDS
from core.registry import Value


@dataclass(frozen=True)
class Search:
    """A backend with some of its parameters set: one column of the study.

    Attributes
    ----------
    name : str
        What people type.
    backend : str
        A name in ``BACKENDS``.
    fixed : mapping
        Parameters that make it what it is; they cannot be changed.
    defaults : mapping
        Parameters that the study sets, unless others are given.
    """

    name: str
    backend: str
    fixed: Mapping[str, Value] = field(default_factory=dict)
    defaults: Mapping[str, Value] = field(default_factory=dict)

    def settings(self, given: Mapping[str, Value]) -> dict[str, Value]:
        """All parameters of the backend, those given where it has them."""
        own = {parameter.name for parameter in BACKENDS[self.backend].parameters}
        chosen = {name: value for name, value in given.items() if name in own}
        return BACKENDS.settings(self.backend, {**self.defaults, **chosen, **self.fixed})


# The paper's four, in its order.
SEARCHES = {
    search.name: search
    for search in (
        Search("exact", "exact"),
        Search("kdtree-exact", "kdtree", fixed={"epsilon": 0.0}),
        Search("kdtree", "kdtree", defaults={"epsilon": 1.0}),
        Search("annoy", "annoy", defaults={"n_trees": 50, "search_k": 50}),
    )
}


def find_search(name: str) -> Search:
    """Return one of the paper's searches, or any other backend with its own defaults.

    Parameters that make a search its own follow its name: ``annoy:n_trees=10:search_k=500``.
    """
    known, *given = name.split(":")
    if known in SEARCHES:
        search = SEARCHES[known]
    elif known in BACKENDS:
        search = Search(known, known)
    else:
        names = ", ".join(dict.fromkeys((*SEARCHES, *BACKENDS)))
        raise InputError(
            f"there is no neighbour backend {name!r} for a study; choose among {names}"
        )
    return replace(search, name=name, fixed={**search.fixed, **_read_fixed(search, given)})


def _read_fixed(search: Search, given: Sequence[str]) -> dict[str, Value]:
    """Read parameters from texts such as ``epsilon=0.5``."""
    free = {
        parameter.name: parameter
        for parameter in BACKENDS[search.backend].parameters
        if parameter.name not in search.fixed
    }
    read = {}
    for text in given:
        name, _, value = text.partition("=")
        if name not in free:
            raise InputError(
                f"{search.name!r} has no parameter {name!r} that can be set; it has "
                f"{', '.join(free) or 'none'}"
            )
        try:
            number: Any = value if free[name].choices else float(value)
        except ValueError:
            number = value  # which the parameter refuses, saying what it should be
        read[name] = free[name].validate(number)
    return read
