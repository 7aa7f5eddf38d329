"""One sentence for notes that are long enough to want one."""
