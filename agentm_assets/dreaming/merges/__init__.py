"""Notes that say the same in nearly the same words: the weaker is superseded by the stronger."""
