"""Decisions as pure functions of one immutable snapshot.

No socket, clock, log or client: what is true comes in, ordered steps with
their reasons go out.  Unknown means no.

`bounds` is what the site allows, `facts` what is true; `guards` say why not,
`episodes` who is concerned; `moving` takes work off its nodes, `ladder` takes
nodes out of service and gives them back.  `plan` asks them all, once a tick,
after `upkeep` made the ledger fit what is true.  Each knows only those before it.
"""
