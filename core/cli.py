"""The frame of the ``wattfold`` command: arguments, progress, results and errors.

Each command is a module of ``core.commands`` with ``NAME``, ``HELP``, ``add_arguments``, ``run``
and ``render``. ``run`` returns what ``--json`` prints; ``render`` says the same to people.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

from core.commands import COMMANDS
from core.errors import WattfoldError
from core.progress import Progress


class Command(Protocol):
    """What the frame asks of a command module."""

    NAME: str
    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser, /) -> None:
        """Describe the arguments."""

    def run(self, arguments: argparse.Namespace, progress: Progress, /) -> dict[str, Any]:
        """Do the work; return what ``--json`` prints."""

    def render(self, result: dict[str, Any], /) -> str:
        """Say the result to people."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line; the usage is one ``--help`` away."""
        self.exit(2, f"wattfold: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None, commands: Sequence[Command] = COMMANDS) -> int:
    """Run one command and return its exit status."""
    argv = sys.argv[1:] if argv is None else argv
    arguments = build_parser(commands, argv).parse_args(argv)
    command: Command = arguments.command
    try:
        with _ProgressBar() as progress:
            result = command.run(arguments, progress)
        text = json.dumps(result, ensure_ascii=False) if arguments.json else command.render(result)
        if text:
            print(text, flush=True)
        return 0
    except WattfoldError as error:
        return _fail(str(error), 2)
    except KeyboardInterrupt:
        return _fail("stopped", 130)
    except BrokenPipeError:
        # The reader of the output has gone, as `head` does; that is no failure of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}", 2)
    except MemoryError:
        return _fail("not enough memory; take fewer households or bins", 1)
    except Exception as error:
        if os.environ.get("WATTFOLD_DEBUG"):
            raise
        return _fail(
            f"internal error, please report it: {type(error).__name__}: {error} "
            "(WATTFOLD_DEBUG=1 shows where)",
            1,
        )


def build_parser(commands: Sequence[Command], argv: Sequence[str]) -> argparse.ArgumentParser:
    """Build the parser; only the command that is called describes its arguments.

    Their help comes from the registries, whose imports nobody else should wait for.
    """
    parser = _Parser(prog="wattfold", description="Maps of smart-meter demand.", allow_abbrev=False)
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in commands:
        subparser = subparsers.add_parser(
            command.NAME, help=command.HELP, description=command.HELP, allow_abbrev=False
        )
        if command.NAME in argv:
            command.add_arguments(subparser)
        subparser.add_argument(
            "--json", action="store_true", help="print one JSON object and nothing else"
        )
        subparser.set_defaults(command=command)
    return parser


class _Version(argparse.Action):
    """Prints the version; finding it out takes longer than all the help."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from core.version import describe

        print(f"wattfold {describe()}")
        parser.exit()


def _fail(message: str, status: int) -> int:
    print("wattfold: " + " ".join(message.split()), file=sys.stderr, flush=True)
    return status


class _ProgressBar:
    """A bar on standard error, where a person is looking."""

    def __enter__(self) -> Progress:
        from tqdm import tqdm

        self._bar = tqdm(
            total=100,
            disable=None,  # which means: unless standard error is a terminal
            leave=False,
            bar_format="{desc:<28.28}{percentage:3.0f}%|{bar}| {elapsed}<{remaining}",
        )

        def report(fraction: float, message: str = "") -> None:
            if message:
                self._bar.set_description_str(message, refresh=False)
            self._bar.n = round(100 * min(max(fraction, 0.0), 1.0), 1)
            self._bar.refresh()

        return report

    def __exit__(self, *_: object) -> None:
        self._bar.close()
