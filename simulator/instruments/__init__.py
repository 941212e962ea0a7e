"""What is seen of the machines: sensors with noise and gaps, counters with restarts.

From the truth to one reading per channel, as dcgm-exporter, a BMC and a reader
of both would have it.  Changes nothing in the machines.
"""
