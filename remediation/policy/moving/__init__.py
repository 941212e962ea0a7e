"""Moving: whole jobs off the nodes that will fail, once, after their work is saved.

A wave is recorded before its first pod is asked to go, and is over when all of
them are gone.
"""
