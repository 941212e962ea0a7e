"""Decisions as pure functions of one immutable snapshot.

No socket, clock, log or client: what is true comes in, ordered steps with
their reasons go out.  Unknown means no.
"""
