"""What the tests of commands have in common."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """The store that commands use; nothing comes from that of the user."""
    with pytest.MonkeyPatch.context() as changes:
        folder = tmp_path_factory.mktemp("cache")
        changes.setenv("WATTFOLD_CACHE", str(folder))
        yield folder
