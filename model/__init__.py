"""Arrays in, numbers out: the channel schema, the artefact contract and its runtime.

Pure: no socket, clock, log or thread.  `model.training` is an extra that makes
artefacts; nothing here imports it.  All modelling (normalisation, masks,
TadGAN, scoring, memory, hazards) lives inside the ONNX graph, so that this
package only feeds it and checks it.
"""
