"""Array types; shapes are written in each docstring as [step, node, gpu]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Whole = NDArray[np.int64]
Keys = NDArray[np.uint64]
