"""Freed memory that the C library keeps for later, given back to the system."""

from __future__ import annotations

import ctypes


def give_back() -> bool:
    """Return freed pages to the system; False where the C library cannot.

    A model that is loaded, a walk over a BMC and a page take some MiB for a
    moment, and the allocator keeps them: on a node 8 of 100 MiB, and more with
    each model.  Called between steps, when there is most to give: 0.6 ms then,
    0.03 ms with nothing to give (`malloc_trim`, glibc).
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return trim is not None and bool(trim(0))
