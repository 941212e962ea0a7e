"""Whether an artefact is worth what it should be: each bar held against what a run found.

Whether a bar was reached is computed, and written between marks of a page beside
the tables of the same run; nobody writes either by hand.
"""
