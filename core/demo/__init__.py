"""Synthetic households worth looking at, with planted anomalies and the truth about them."""

from typing import TYPE_CHECKING, Any

from core.demo.options import OPTIONS, TRUTH

if TYPE_CHECKING:
    from core.demo.generate import make_demo
    from core.demo.planted_faults import KINDS

__all__ = ["KINDS", "OPTIONS", "TRUTH", "make_demo"]


def __getattr__(name: str) -> Any:
    # Late: the help of `wattfold demo` needs the options alone.
    if name == "make_demo":
        from core.demo.generate import make_demo

        return make_demo
    if name == "KINDS":
        from core.demo.planted_faults import KINDS

        return KINDS
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
