"""Slugs of projects and tasks: names of folders that every disk and every link can carry."""

from agentm_assets.capture.slug import MAX_BYTES, MAX_CHARACTERS, slugify


class BadSlug(ValueError):
    """The text can't be a slug; the message says why and gives the form."""


def check_slug(text: str) -> str:
    """`text` when it is a slug, that is its own slug: lower-case words of any script joined by
    hyphens, no name that some system keeps for itself. Raises BadSlug."""
    made = slugify(text)
    if made != text or not text:
        raise BadSlug(
            "a slug is made of lower-case words and digits joined by hyphens, as in quiet-boil, at "
            f"most {MAX_CHARACTERS} characters or {MAX_BYTES} bytes, and is no name that some "
            "system keeps for a device"
        )
    return text


def slug_of(title: str) -> str:
    """The slug of a title. Raises BadSlug when nothing in it can stand in a name."""
    slug = slugify(title)
    if not slug:
        raise BadSlug("nothing in the title can stand in a name of a folder; give a slug")
    return slug


def title_of(slug: str) -> str:
    """A title for a slug that came without one."""
    words = slug.replace("-", " ")
    return words[:1].upper() + words[1:]
