"""Small pieces that several parts of the page use."""

from typing import TypeVar

from nicegui import ui

AnyElement = TypeVar("AnyElement", bound=ui.element)


def marked(element: AnyElement, **data: str) -> AnyElement:
    """Set `data-…` attributes. Given as values, so that no text can be read as another attribute."""
    for name, value in data.items():
        element.props[f"data-{name}"] = value
    return element


def passing_dialog() -> ui.dialog:
    """An open dialog that is gone from the page once it is closed."""
    dialog = ui.dialog(value=True)
    return dialog.on("hide", dialog.delete)


def picture(url: str, alt: str) -> None:
    """A picture that a click, or Enter, shows as large as the window."""
    frame = ui.element("button").classes("lh-picture").on("click", lambda: _enlarge(url, alt))
    frame.props["type"], frame.props["aria-label"] = "button", f"Enlarge: {alt}"
    with frame:
        image = marked(ui.element("img"), testid="image")
        image.props["src"], image.props["alt"] = url, alt


def _enlarge(url: str, alt: str) -> None:
    with passing_dialog().props("maximized") as large, ui.element("div").classes("lh-lightbox"):
        big = marked(ui.element("img").on("click", large.close), testid="image-large")
        big.props["src"], big.props["alt"] = url, alt
        with ui.element("div").classes("lh-lightbox-bar"):
            save = ui.element("a")
            save.props["href"], save.props["download"], save.props["aria-label"] = url, True, "Save the picture"
            with save:
                ui.icon("download")
            ui.button(icon="close", color=None, on_click=large.close).props('flat round aria-label="Close"')
