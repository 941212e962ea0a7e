"""From a window to probabilities: which artefact is in force, and whether it may be believed.

Says why there is no prediction rather than giving a poor one.  Trains nothing,
and never gives up a good artefact for a bad one.
"""
