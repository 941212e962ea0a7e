"""Facility mode: reads what cools and feeds the racks, once for all nodes of them.

CDUs, rear-door heat exchangers, rack PDUs, power shelves and switch trays of a
target list, each at its own pace and behind its own breaker, as one page with
equipment and rack labels.  Node exporters take their rack's readings from that
page, so that no number of nodes puts more load on a pump controller.  What
equipment reports is recomputed where physics allows it, and the difference is
published; nothing is decided here.
"""
