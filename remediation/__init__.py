"""Hears alerts, keeps the cluster calm.

Turns Alertmanager posts into episodes, re-derives what is true from the
cluster each tick, and takes at most one guarded step per episode.  It knows
nothing of DCGM, Redfish or models, never forces, never lifts a cordon it did
not put on, and ships in `observe` mode.
"""
