"""The K nearest neighbours of every point, by a backend of one's choice.

A backend is one module of this package with one subclass of :class:`Backend`; it is registered
in the list below, in the order in which people see it.
"""

from core.neighbors.interface import BACKENDS, Backend, Neighbors

__all__ = ["BACKENDS", "Backend", "Neighbors"]
