"""Pages of entities: one living page a person, repository or issue, made from the notes that name
it. The notes stay the source of truth; a page that is deleted comes back."""
