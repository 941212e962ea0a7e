"""What the artefact is measured against: rules and detectors that need no failures to learn from.

Every rival gives a node one score at each moment, the higher the worse, and
has a threshold of its own at which its makers would have it alert.
"""
