"""Arrays in, numbers out: the channel schema, the artefact contract and its runtime.

Pure: no socket, clock, log or thread.  `model.training` is an extra that makes
artefacts; nothing here imports it.  All modelling (normalisation, masks,
TadGAN, scoring, memory, hazards) lives inside the ONNX graph, so that this
package only feeds it and checks it.
"""

import os

# The ONNX runtime starts a thread, keeps a data base in the home folder and sends what it sees to
# its maker, from its import on, unless this stands in the environment before.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
