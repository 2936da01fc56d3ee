"""The most memory that this process took, and how to begin to watch anew."""

import sys
from contextlib import suppress
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def peak_memory_mb() -> float:
    """The most memory that this process took, in 10⁶ bytes: ever, or since it was told to forget.

    What lay in memory at the time, such as imported libraries, counts. 0 where the system does not
    tell.
    """
    # A process that was started by another inherits its ru_maxrss; Linux knows better.
    with suppress(OSError, StopIteration):
        lines = _STATUS.read_text().splitlines()
        peak = next(line for line in lines if line.startswith("VmHWM:"))
        return int(peak.split()[1]) * 1024 / 1e6
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def forget_peak_memory() -> bool:
    """Let the peak be what is taken now; return False where the system knows no way.

    For processes that do one job after the other. It is the process's own account, which others
    may read, so runs do not do this by themselves.
    """
    try:
        _CLEAR.write_text("5")
    except OSError:
        return False
    return True
