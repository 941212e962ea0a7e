"""The only importer of the Kubernetes client: observing, writing, leasing, translating errors.

It executes what the policy decided and reports what the server answered; it
decides nothing.
"""
