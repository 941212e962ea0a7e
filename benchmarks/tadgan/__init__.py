"""TadGAN held against its own published results: public series, the published metric, one scoring.

`python -m benchmarks.tadgan` fits and judges; what it may read is the data
folder of the evaluation, and what it writes is one file per series, so that a
run that was cut short goes on where it was.
"""
