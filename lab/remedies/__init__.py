"""From a diagnosis to a change: what may be done about a failed attempt without asking, and how it is written down."""
