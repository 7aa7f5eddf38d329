"""What each stage has done to which target, at which version: a cache over stamps and records."""
