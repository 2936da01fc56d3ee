"""Groups of households that the analyst named."""

from collections.abc import Mapping, Sequence
from typing import Any

import param

from core.errors import InputError
from core.readings import Dataset

LONGEST_NAME = 60
MOST_GROUPS = 100
SEVERAL = "in several groups"


class SavedGroups(param.Parameterized):
    """Named groups; they may share households."""

    groups: Any = param.Dict(default={}, doc="Ids of every group's households, by its name")

    def save(self, name: str, households: Sequence[str]) -> None:
        """Keep a group under a name, in place of one that has it."""
        name = whole_letters(name.strip())
        if not name or len(name) > LONGEST_NAME:
            raise InputError(f"Name the group, in at most {LONGEST_NAME} letters.")
        if not households:
            raise InputError("There is nobody in this group; choose homes first.")
        if len(self.groups) >= MOST_GROUPS and name not in self.groups:
            raise InputError(f"There are {MOST_GROUPS} groups, and no room for more.")
        self.groups = {**self.groups, name: tuple(households)}

    def remove(self, name: str) -> None:
        """Forget a group."""
        self.groups = {other: own for other, own in self.groups.items() if other != name}

    def merge(
        self,
        groups: Mapping[str, tuple[str, ...]],
        *,
        before: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        """Add groups; one whose name stands for other households here gets another name.

        With ``before``, what the groups were before another page changed them, groups that were
        the same here are changed or removed as there.
        """
        was = before or {}
        merged = {
            name: own
            for name, own in self.groups.items()
            if was.get(name) != own or groups.get(name) == own
        }
        for name, own in groups.items():
            if was.get(name) == own:
                continue
            free, number = name, 1
            while free in merged and set(merged[free]) != set(own):
                number += 1
                free = f"{name} ({number})"
            if len(merged) < MOST_GROUPS or free in merged:
                merged[free] = own
        self.groups = merged


def whole_letters(text: str) -> str:
    """Replace halves of letters, which JSON and browsers can send and no file can hold."""
    return text.encode(errors="replace").decode()


def group_labels(groups: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the group of every household that is in one, or that it is in several."""
    labels: dict[str, str] = {}
    for name, own in groups.items():
        for household in own:
            labels[household] = SEVERAL if household in labels else name
    return labels


def check_groups(groups: object, dataset: Dataset) -> dict[str, tuple[str, ...]]:
    """Return groups from outside, or say what is wrong with them."""
    if not isinstance(groups, dict) or len(groups) > MOST_GROUPS:
        raise InputError("the saved groups are damaged; choose another file")
    known = set(dataset.households["household"])
    found = {}
    for name, own in groups.items():
        if not isinstance(own, list) or not isinstance(name, str) or not name.strip():
            raise InputError("the saved groups are damaged; choose another file")
        members = tuple(
            dict.fromkeys(each for each in own if isinstance(each, str) and each in known)
        )
        if members:
            found[whole_letters(name[:LONGEST_NAME])] = members
    return found
