"""The page: state, plots, layout and jobs on top of ``core``."""
