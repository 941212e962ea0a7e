"""Facts: what is true at one moment, as immutable values, and the words that refuse.

Read from the cluster, from its ledger and from its monitoring; nothing here
decides anything, and nothing remembers.
"""
