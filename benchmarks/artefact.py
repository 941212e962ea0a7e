"""What one answer of an artefact costs: milliseconds of CPU for one node, and memory.

python -m benchmarks.artefact [FILE]
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np

from model import runtime
from model.cli import BUNDLED

GPUS = (1, 8, 16)
ANSWERS = 400


def main() -> None:
    """Print one line per number of GPUs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", default=BUNDLED)
    path = parser.parse_args().file
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    predictor = runtime.load(path)
    print(f"{path}: loaded and probed in {time.process_time() - began:.3f} s of CPU")
    info = predictor.info
    rng = np.random.default_rng(1)
    for gpus in GPUS:
        shape = (gpus, info.window_steps, len(info.channels))
        window = rng.uniform(0.0, 60.0, shape).astype(np.float32)
        state = predictor.initial_state(gpus)
        began = time.process_time()
        for _ in range(ANSWERS):
            state = predictor.predict(window, state).state
        each = (time.process_time() - began) / ANSWERS * 1e3
        print(f"{gpus:>2} GPUs x {info.window_steps} steps: {each:.2f} ms of CPU per answer")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"resident memory: {(after - before) / 1024:.1f} MiB more than before loading")


if __name__ == "__main__":
    main()
