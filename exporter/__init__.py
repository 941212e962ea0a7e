"""One node in, one page out.

Reads dcgm-exporter and the node's own Redfish BMC, keeps a window on a fixed
grid, runs the node's model and publishes failure probabilities with the
telemetry they were made from.  It talks to no other node, holds no Kubernetes
permission, trains nothing and acts on nothing.  What it does not know it does
not publish: a missing reading is named, never zero.
"""

import os

# Before numpy loads its BLAS, which starts and keeps a thread per processor of
# the machine, whatever share of it a container was given.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
