"""agentm: a memory for one operator and the agents that work for them."""

__version__ = "0.1.0"
