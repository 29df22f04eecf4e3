"""Recipes: how a lab teaches Labhand an experiment, as a YAML file beside a training script."""
