"""Playing on the machines of a Dask cluster: the same tasks, the same games."""
