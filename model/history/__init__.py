"""A site's own past: read from Prometheus, kept on disk, labelled by what became of it.

Reads bounded chunks that respect the server's limits and keeps each on disk, so
that a run that was killed goes on where it was.  Says which stretches are
failures, which were planned, and which say nothing.  It does not train, and a
data set is never shorter in silence: what is left out is counted by reason.
"""
