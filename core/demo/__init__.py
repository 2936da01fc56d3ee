"""Synthetic households worth looking at, with planted anomalies and the truth about them."""

from typing import TYPE_CHECKING

from core.demo.options import OPTIONS, TRUTH
from core.lazy_names import lazy_names

if TYPE_CHECKING:
    from core.demo.generate import make_demo
    from core.demo.planted_faults import KINDS

__all__ = ["KINDS", "OPTIONS", "TRUTH", "make_demo"]

# Late: the help of `wattfold demo` needs the options alone.
__getattr__ = lazy_names(__name__, {"KINDS": "planted_faults", "make_demo": "generate"})
