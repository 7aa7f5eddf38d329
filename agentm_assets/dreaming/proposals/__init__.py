"""What the nights of a week say about agentm itself, and what the strong model proposes."""
