"""The script that ``panel serve`` runs for every session."""

from dashboard import fits
from dashboard.page import create_page

# From the first time on, so that workers are warm when somebody wants a map.
fits.pool()
create_page().servable()
