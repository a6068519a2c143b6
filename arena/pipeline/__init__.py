"""Work of the commands from start to end: runs, sweeps, forecasts, classes, versions, ratings."""
