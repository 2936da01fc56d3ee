"""The ``wattfold`` command: the commands of ``core``, and ``serve``."""

import sys

from core.cli import main as core_main
from core.commands import COMMANDS
from dashboard.server import serve


def main() -> None:
    """Run ``wattfold``."""
    sys.exit(core_main(commands=(*COMMANDS, serve)))
