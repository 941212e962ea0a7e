"""Bounds: what the site allows, with its defaults, each checked when it is made.

Nothing here knows a cluster: these are the values of the settings file.
"""
