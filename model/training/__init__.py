"""Makes artefacts: data, TadGAN, hazard layer, one ONNX graph, evaluation.

Reached only by the `forewarn-model` command and only with the `train` extra;
no service imports it.
"""
