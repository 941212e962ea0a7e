"""What is learned from and judged on: nodes over time, with what became of them.

Simulated and recorded histories become the same thing here, as the exporter
would have shown it; splits and labels are decided here and nowhere else.
"""
