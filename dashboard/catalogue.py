"""The datasets that the server shows.

A page names a dataset by an id that is looked up among those below the root, never by a path.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from core.errors import InputError
from core.readings import Dataset

_MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Catalogue:
    """A dataset, or a folder of them.

    Attributes
    ----------
    root : Path
        A dataset directory, or the folder whose subfolders are dataset directories.
    """

    root: Path

    @classmethod
    def of_server(cls) -> "Catalogue":
        """What the server shows: WATTFOLD_DATA, or the demo data of a checkout."""
        demo = Path(__file__).parents[1] / "data" / "demo"
        return cls(Path(os.environ.get("WATTFOLD_DATA") or demo))

    def paths(self) -> dict[str, Path]:
        """Return the dataset directories by their ids, in the order of their names."""
        if (self.root / _MANIFEST).is_file():
            found = [self.root]
        else:
            found = sorted(path.parent for path in self.root.glob(f"*/{_MANIFEST}"))
        return {_id_of(path.name): path for path in found}

    def open(self, id: str | None = None) -> Dataset:
        """Open a dataset; the first one if no id is given."""
        paths = self.paths()
        if id is not None and id not in paths:
            raise InputError("there is no such dataset here; choose one of those that are offered")
        if not paths:
            # Says what is the matter with the folder.
            return Dataset.open(self.root)
        return Dataset.open(paths[id] if id is not None else next(iter(paths.values())))


def _id_of(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]
