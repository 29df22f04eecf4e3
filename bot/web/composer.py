"""The box in which a person writes, and hands in a log file."""

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import events, ui

from bot.web.files import LARGEST_UPLOAD, NotText, text_of
from bot.web.parts import marked
from bot.web.script import SEND_ON_ENTER


class Composer:
    """`write` gets what was written and `send_file` a file's name and text; both return whether it was taken."""

    def __init__(
        self, write: Callable[[str], Awaitable[bool]], send_file: Callable[[str, str], Awaitable[bool]]
    ) -> None:
        self._write = write
        self._send_file = send_file
        with ui.footer().classes("lh-foot"), ui.element("div").classes("lh-composer"):
            uploader = ui.upload(
                on_upload=self._uploaded, on_rejected=_too_large, max_file_size=LARGEST_UPLOAD, auto_upload=True
            ).classes("lh-uploader")
            marked(uploader, testid="upload")
            ui.run_javascript(f"labhand.accept({uploader.id})")
            attach = ui.button(icon="attach_file", color=None).props('flat round aria-label="Attach a log file"')
            attach.classes("lh-plain").on("click", js_handler=f"() => labhand.pick({uploader.id})")
            attach.tooltip("Attach a log file, or drop one anywhere")
            self._box = ui.textarea(placeholder="What should I compare?").classes("lh-input")
            self._box.props('autogrow borderless dense rows=1 autofocus aria-label="Message" enterkeyhint=send')
            marked(self._box, testid="message-input").on("keydown", self._entered, js_handler=SEND_ON_ENTER)
            send = ui.button(icon="arrow_upward", on_click=lambda: self._go(str(self._box.value or "")))
            marked(send.props('unelevated round color=primary aria-label="Send"'), testid="send")

    def focus(self) -> None:
        """Put the cursor in the box."""
        self._box.run_method("focus")

    async def _entered(self, event: events.GenericEventArguments) -> None:
        await self._go(str(event.args or ""))

    async def _go(self, text: str) -> None:
        if not text.strip():
            return
        self._box.value = ""
        if not await self._write(text.strip()):
            self._box.value = text

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        uploader: Any = event.sender
        uploader.reset()
        name = event.file.name
        try:
            text = await text_of(event.file.iterate())
        except NotText:
            ui.notify(f"{name} is not a text file. Send the log as plain text.", type="warning")
            return
        if not text.strip():
            ui.notify(f"{name} is empty.", type="warning")
            return
        await self._send_file(name, text)


def _too_large() -> None:
    ui.notify(f"That file is over {LARGEST_UPLOAD // 1_000_000} MB. Send its last part.", type="warning")
