"""Commands that measure; each prints its method, and a ratio where there is a rival."""
