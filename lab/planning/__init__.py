"""From a goal to a plan: which recipe, which cells, how long, and whether each cell can run at all."""
