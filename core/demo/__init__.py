"""Synthetic households worth looking at, with planted anomalies and the truth about them."""

from core.demo.anomalies import KINDS
from core.demo.generate import OPTIONS, TRUTH, make_demo

__all__ = ["KINDS", "OPTIONS", "TRUTH", "make_demo"]
