"""What every long-running Forewarn process does alike.

Strict settings files, secrets that live in files, one log format, stop and
reload signals, a bounded HTTP server, and a client of Prometheus.  It holds no
word of the domain: it knows neither GPUs nor nodes, and nothing in it decides
anything.
"""
