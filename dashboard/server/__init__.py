"""The server: its start and stop, its limits, headers, health and logs."""
