"""The kinds of agents; `agents.registry` lists them."""
