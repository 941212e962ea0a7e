"""What a node's sources said, on a fixed grid: fresh readings, gaps and silence by kind.

From statuses to the array that a model reads.  Fills no gap, guesses no value,
and knows no model.
"""
