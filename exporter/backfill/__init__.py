"""A cold window filled from Prometheus: what this node's page once said, lived through again.

A pod that was moved, or is new, finds its node's history in its own
`forewarn_*` channels.  The reading is bounded in requests, bytes and time, runs
beside serving and collecting, and gives all that it promises or nothing.
"""
