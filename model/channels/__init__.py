"""The rows of the channel table, a file per level; `model.schema` joins them.

A row says what is measured, in which unit and range, which cause it speaks of,
who can say it, and what its absence means.  How the sources spell it stands in
`model.sources`.
"""
