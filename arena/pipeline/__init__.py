"""Work of the commands from start to end: runs, sweeps, forecasts, ladders, versions, ratings."""
