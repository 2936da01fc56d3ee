"""The choice of an engine as command-line flags."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import InputError

if TYPE_CHECKING:
    from core.engine import Engine
    from core.readings import Dataset

_TLS = ("tls_ca_file", "tls_cert", "tls_key")


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say where the work is done."""
    from core.engine import ENGINES

    where = parser.add_argument_group("where to do it")
    where.add_argument(
        "--engine",
        choices=ENGINES,
        default=ENGINES[0],
        help=f"what counts readings and searches neighbours (default {ENGINES[0]}; dask without a "
        "scheduler starts processes on this machine)",
    )
    where.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask scheduler, as tls://host:8786"
    )
    where.add_argument(
        "--work",
        metavar="DIR",
        help="where Dask workers leave finished pieces, seen by all of them (default: in the "
        "dataset directory)",
    )
    for flag, what in zip(_TLS, ("the authority", "our certificate", "its key"), strict=True):
        where.add_argument(
            "--" + flag.replace("_", "-"), metavar="PEM", help=f"{what}, for a tls:// scheduler"
        )


def read_engine(arguments: argparse.Namespace, dataset: "Dataset") -> "Engine":
    """Make the engine that was chosen; it opens in a ``with`` statement."""
    from core.engine import TLS, make_engine

    given = {name: getattr(arguments, name) for name in _TLS}
    tls = None
    if any(given.values()):
        missing = [name for name, path in given.items() if path is None]
        if missing:
            flags = " and ".join("--" + name.replace("_", "-") for name in missing)
            raise InputError(f"TLS takes three files; give {flags} as well")
        for path in given.values():
            if not Path(path).is_file():
                raise InputError(f"there is no file {path}; give the PEM files of the cluster")
        tls = TLS(ca_file=given[_TLS[0]], cert_file=given[_TLS[1]], key_file=given[_TLS[2]])
    if arguments.engine == "local" and arguments.work:
        raise InputError("--work belongs to --engine dask; leave it out, or choose dask")
    folder = Path(arguments.work) if arguments.work else dataset.path / "work"
    return make_engine(arguments.engine, folder=folder, scheduler=arguments.scheduler, tls=tls)
