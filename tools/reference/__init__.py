"""Generated pages about keys, commands, agents, checks and columns; the JSON Schema."""
