"""Move losses: every stored move compared with the best one by exact values."""
