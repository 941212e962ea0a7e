"""Reads the node's own BMC over Redfish.

One session for the life of the process, the cheapest strategy that this BMC
supports, one to a few requests a cycle, one at a time.  It finds out by walking
the tree slowly and rarely, and then asks only for the few resources that carry
the node's channels; what GPUs report, dcgm-exporter reports better.  It follows
no link to another host, retries nothing within a cycle beyond one log-in, and
answers a tree that is no node with one clear line.
"""
