"""The errors people meet; each message says what, where and what to do."""


class WattfoldError(Exception):
    """Base of every error that Wattfold raises on purpose."""


class InputError(WattfoldError, ValueError):
    """Something given by the user cannot be used: a file, a column, a parameter."""


class Cancelled(WattfoldError):  # noqa: N818 (a wish, not an error)
    """The user asked for the work to stop."""
