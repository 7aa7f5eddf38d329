"""What a model must not see: secrets and contacts, taken out of a text and put back later."""
