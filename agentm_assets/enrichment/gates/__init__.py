"""The gates around the model, one module each: seven before it is asked, the rest before a file is
written. Each says why it stays shut, with a stable code (docs/enrichment.md lists them)."""
