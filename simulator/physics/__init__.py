"""What happens in the machines: work, power, heat, coolant, memory and links, step by step.

Equations on arrays [step, node, gpu], in the units of the schema.  Stress is
the only hand that reaches in; what an instrument would show of it all is not
known here.
"""
