"""The shipped signature files."""
