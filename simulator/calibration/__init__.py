"""The simulator held against recordings of real machines: quantiles, distances, pictures.

Nothing here changes the physics; whoever reads the table does.
"""
