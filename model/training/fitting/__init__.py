"""From episodes to a graph with its constants: TadGAN, hazards, base rate, one node's tuning."""
