"""What becomes the graph: scaling, TadGAN, scores, evidence, memory, hazards, one module.

Every constant and weight of an artefact is a buffer or parameter here, and
nothing here knows where data come from or what they are worth.
"""
