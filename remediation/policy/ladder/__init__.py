"""The ladder: softly tainted, excluded, emptied, handed over, and the way back down.

Each function takes one episode and returns its turn: one step, or what it waits for.
"""
