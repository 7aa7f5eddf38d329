"""The night's work over the whole vault: stages that plan, and one way to apply what they plan."""
