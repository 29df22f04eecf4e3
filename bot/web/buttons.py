"""The buttons of a card: one click, one event; a question first where the card asks one, and never by accident."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from bot.web.parts import marked, passing_dialog
from lab.cards import Button, ButtonStyle, Card

Pressed = Callable[[Button, str], Awaitable[bool]]
"""Hands a click in with its answer; returns whether it was taken."""
_LOOKS = {
    ButtonStyle.PRIMARY: ("unelevated", "primary"),
    ButtonStyle.DANGER: ("outline", "negative"),
    ButtonStyle.PLAIN: ("outline", None),
}
_LONGEST_WAIT_S = 30.0


class ButtonRow:
    """The row waits after a click, until the page releases it: something was answered."""

    def __init__(self, card: Card, pressed: Pressed) -> None:
        self._title = card.title
        self._pressed = pressed
        self._elements: list[ui.button] = []
        self._spinning: ui.button | None = None
        self._row = ui.element("div").classes("lh-buttons")
        with self._row:
            for button in card.buttons:
                self._elements.append(self._draw(button))

    @property
    def waits(self) -> bool:
        return self._spinning is not None

    def release(self) -> None:
        """The buttons may be pressed again."""
        if self._spinning is None:
            return
        self._spinning.props(remove="loading")
        self._spinning = None
        for element in self._elements:
            element.enable()

    def _draw(self, button: Button) -> ui.button:
        look, colour = _LOOKS[button.style]
        element = ui.button(button.label, color=colour).props(f"no-caps {look}").classes(f"lh-{button.style.value}")
        marked(element, testid=f"button-{button.action}")
        if button.ask is not None:
            element.on_click(lambda: self._question(button, element))
        elif button.style is ButtonStyle.DANGER:
            element.on_click(lambda: self._confirmation(button, element))
        else:
            element.on_click(lambda: self._go(button, element, ""))
        return element

    async def _go(self, button: Button, element: ui.button, answer: str) -> None:
        if self.waits:
            return
        self._spinning = element
        element.props("loading")
        for other in self._elements:
            other.disable()
        with self._row:
            ui.timer(_LONGEST_WAIT_S, self.release, once=True)
        if not await self._pressed(button, answer):
            self.release()

    def _question(self, button: Button, element: ui.button) -> None:
        with passing_dialog() as dialog, ui.card().classes("lh-dialog"):
            ui.label(button.ask or "").classes("lh-title")
            answer = marked(ui.input().props("outlined dense autofocus"), testid="ask-input").classes("lh-wide")
            answer.props["aria-label"] = button.ask

            async def send() -> None:
                text = str(answer.value or "").strip()
                if not text:
                    answer.run_method("focus")
                    return
                answer.value = ""
                dialog.close()
                await self._go(button, element, text)

            answer.on("keydown", send, js_handler="(e) => { if (e.key === 'Enter' && !e.isComposing) emit() }")
            _choices(dialog, "Back", button, send, "ask-send")

    def _confirmation(self, button: Button, element: ui.button) -> None:
        with passing_dialog() as dialog, ui.card().classes("lh-dialog"):
            ui.label(f"{button.label}?").classes("lh-title")
            ui.label(f"For “{self._title}”. This can't be taken back." if self._title else "This can't be taken back.")

            async def send() -> None:
                dialog.close()
                await self._go(button, element, "")

            _choices(dialog, "Keep it as it is", button, send, "confirm")


def _choices(dialog: ui.dialog, back: str, button: Button, send: Callable[[], Awaitable[None]], testid: str) -> None:
    with ui.element("div").classes("lh-buttons lh-choices"):
        ui.button(back, color=None, on_click=dialog.close).props("flat no-caps").classes("lh-plain")
        colour = "negative" if button.style is ButtonStyle.DANGER else "primary"
        go = ui.button(button.label, color=colour, on_click=send).props("unelevated no-caps")
        marked(go, testid=testid)
