"""The script that ``panel serve`` runs for every session."""

from dashboard.page import create_page

create_page().servable()
