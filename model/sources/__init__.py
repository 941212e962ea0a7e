"""How the outside world spells our channels: names, aliases, sentinels, scales.

Tables and pure look-ups only.  The exporter reads by them; training maps raw
history by them; the simulator may not see them, so that its wire text is
checked by somebody who did not write it.
"""
