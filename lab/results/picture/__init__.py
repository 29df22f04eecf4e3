"""The matrix as a picture. Imported late: matplotlib takes half a second."""

from lab.results.picture.render import Theme, render_matrix

__all__ = ["Theme", "render_matrix"]
