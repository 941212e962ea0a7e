"""Histories as files: arrays for training, OpenMetrics text for a Prometheus, incident lists."""
