"""The use cases around a plan: draft, change, start, approve, cancel, retry."""
