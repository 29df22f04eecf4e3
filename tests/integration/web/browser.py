"""Chromium in front of the page, with an eye on whatever leaves this machine."""

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from tests.support.require import need_program

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Watched:
    """A browser whose pages all note what they asked other machines for, and the errors of their scripts."""

    browser: Browser
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    async def page(self, **context: Any) -> Page:
        """A new page with cookies of its own."""
        page = await self.browser.new_page(**{"viewport": {"width": 1200, "height": 900}, **context})
        self.watch(page)
        return page

    def watch(self, page: Page) -> None:
        page.on("request", lambda request: self._asked(request.url))
        page.on("websocket", lambda socket: self._asked(socket.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _asked(self, url: str) -> None:
        if not url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")):
            self.foreign.append(url)


@contextlib.asynccontextmanager
async def chromium() -> AsyncGenerator[Watched]:
    """A headless Chromium; when it ends, nothing may have left this machine and no script may have failed."""
    async with async_playwright() as playwright:
        path = need_program("chromium", "chromium")
        browser = await playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        watched = Watched(browser)
        yield watched
        await browser.close()
    assert watched.foreign == []
    assert watched.errors == []


async def say(page: Page, text: str) -> None:
    """Write and press Enter."""
    box = page.locator('textarea[data-testid="message-input"]')
    await box.fill(text)
    await box.press("Enter")
