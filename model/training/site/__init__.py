"""Training on a site's own history: its past as episodes, the fleet's model, each node's own."""
