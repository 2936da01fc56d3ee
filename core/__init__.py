"""Statistical manifolds of electricity demand: the library behind Wattfold."""
