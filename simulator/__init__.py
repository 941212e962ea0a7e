"""A GPU cluster that can break: physics, faults with known failure times, endpoints.

Serves simulated nodes as dcgm-exporter pages and Redfish trees over real HTTP,
owns the embedded cluster of the demo, and records history for training.  It
shares only `model.schema` with the product, so that it can judge it from
outside.
"""
