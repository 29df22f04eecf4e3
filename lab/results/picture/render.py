"""From a matrix to a picture file."""

import threading
from pathlib import Path
from typing import Any

from lab.results.arrange import arrange
from lab.results.picture.fonts import families
from lab.results.picture.theme import PALETTES, PIXELS_PER_INCH, SHARPNESS, Theme
from lab.results.values import Matrix

_ONE_AT_A_TIME = threading.Lock()
"""matplotlib's settings and fonts are not made for several threads."""


def render_matrix(matrix: Matrix, path: Path, theme: Theme = "light") -> Path:
    """Draw the matrix to `path` (`.png`, `.svg` or `.pdf` by its suffix) and give the path back.

    Two factors become an annotated heat map, more become panels on one colour scale, one becomes a dot plot. The PNG
    has twice the pixels of the size it is meant to be seen at. Raises `OSError` when the file can't be written.
    """
    with _ONE_AT_A_TIME:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        from lab.results.picture.dots import draw_dots
        from lab.results.picture.heat import draw_heat

        mpl: Any = matplotlib
        palette = PALETTES[theme]
        style = {
            "font.family": list(families()),
            "hatch.linewidth": 0.7,
            "svg.fonttype": "path",
            "axes.unicode_minus": True,
        }
        with mpl.rc_context(mpl.rcParamsDefault):
            mpl.rcParams.update(style)
            sheet = draw_heat(matrix, palette) if arrange(matrix).columns else draw_dots(matrix, palette)
            FigureCanvasAgg(sheet.figure)
            options = {"pil_kwargs": {"compress_level": 4}} if path.suffix.lower() == ".png" else {}
            sheet.figure.savefig(path, dpi=PIXELS_PER_INCH * SHARPNESS, facecolor=palette.background, **options)
    return path
