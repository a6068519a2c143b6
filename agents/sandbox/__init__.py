"""The sandbox: isolation levels, the spawner, processes of bots and the agents that ask them."""
