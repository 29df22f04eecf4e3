"""Training scripts with their recipes, small enough to run for real on one core."""
