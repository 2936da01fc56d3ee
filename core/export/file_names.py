"""File names that every system takes, whatever the ids they are made of."""

import re
import unicodedata

_LONGEST = 80


def file_name(*words: str, suffix: str) -> str:
    """Join words to a name of plain letters, digits, dots, dashes and underscores.

    It starts with the product's name, so no name that a system keeps for itself can come out.
    """
    plain = unicodedata.normalize("NFKD", "-".join(word for word in words if word))
    plain = plain.encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", plain)
    plain = re.sub(r"[-.]{2,}", "-", plain).strip("-._")[:_LONGEST].rstrip("-._")
    return "-".join(filter(None, ("wattfold", plain))) + suffix
