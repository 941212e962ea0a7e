"""Evidence read over HTTP: what fires, from Alertmanager, and what is measured, from Prometheus.

Nothing is judged here: what could not be read is None, with the reason.
"""
