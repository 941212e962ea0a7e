"""Freed memory that the C library keeps for later, given back to the system."""

from __future__ import annotations

import ctypes


def give_back() -> bool:
    """Return freed pages to the system; False where the C library cannot.

    To load a model takes some MiB for a moment, and what the allocator keeps of
    them grows with each model until it levels off: by 10 MiB over forty models,
    by none with this call after each (`malloc_trim`, glibc).
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim is not None and bool(trim(0))
