"""Reports: what the vault is, what the night did, and what waits for the operator."""
