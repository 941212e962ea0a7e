"""A real Kubernetes control plane on loopback, with imitated kubelets.

Starts the programs that `tests/controlplane/build.sh` built; the cluster tier
of the tests and the demo on a real cluster share it.  It decides nothing and
knows nothing of the product.
"""
