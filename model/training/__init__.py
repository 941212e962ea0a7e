"""Makes artefacts: data, TadGAN, hazard layer, one ONNX graph, evaluation.

Reached only by the `forewarn-model` command and only with the `train` extra;
no service imports it.  In layers, each of which knows those after it alone:
`commands`; `site` (a site's own history); `artefacts` (files); `rivals` and
`page`; `judging` and `fitting`, which do not know each other; `episodes`;
`network`.
"""
