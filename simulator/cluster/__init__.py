"""The embedded cluster: the few Kubernetes API calls that remediation uses, in memory, over HTTP.

For the demo and for trials without a control plane. It is driven by the
official client, and the contract tests run the same questions against it and
against the real API server; where the two differ, this one is wrong. Small is
its virtue: a call that remediation does not make is not here.
"""

from simulator.cluster.embedded import EmbeddedCluster
from simulator.cluster.kubelet import Pace
from simulator.cluster.placements import Move

__all__ = ["EmbeddedCluster", "Move", "Pace"]
