"""A frozen config -> a map, through all stages, each computed once and kept."""

from core.runs._stage_log import STAGES
from core.runs.config import RunConfig
from core.runs.reproduce import command_line, python_lines
from core.runs.result import Run
from core.runs.runner import Runner, run
from core.runs.store import Store

__all__ = [
    "STAGES",
    "Run",
    "RunConfig",
    "Runner",
    "Store",
    "command_line",
    "python_lines",
    "run",
]
