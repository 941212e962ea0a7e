"""Reads one dcgm-exporter page per cycle, line by line, and folds it to one reading per GPU.

Names, scales and sentinels stand in `model.sources.dcgm`; this package knows
the text format, the identity of a GPU and the manners of the exporter's server.
"""
