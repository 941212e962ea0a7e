"""The trial: a rack of simulated nodes, one failing, its work moved before it does.

Starts every real program of the product against simulated hardware, tells what
happens as a story, and fails when the story did not happen.  Time is compressed
by one scale that divides every duration in generated copies of the shipped
files, and nothing else is changed.  It imports neither the exporter nor
remediation: it starts them as their users do.
"""

from simulator.demo.cli import run

__all__ = ["run"]
