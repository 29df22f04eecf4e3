"""The local page in a real browser, against a whole Labhand with the fake machines."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from bot.inbox import receive
from bot.surface import Inbound
from bot.web.surface import WebSurface
from bot.webfeed import DatabaseFeed
from lab.policy import Role
from tests.scenario.dialogue import House, good
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
TOKEN = "a-token-of-the-test"
ASK = "compare red and blue on toys with batch size 64 and 1024"


class Served(House):
    """The house of the dialogues with the page as its surface, and time that passes while a test waits."""

    async def start(self) -> None:
        self.web = WebSurface(DatabaseFeed(self.lab), port=0, token=TOKEN, user="ada", images_root=self.lab.images)
        self.inbox._surfaces = self.outbox._surfaces = {"web": self.web}
        self.backend.machine.script(good(seconds=10))

        async def keep(event: Inbound) -> None:
            await asyncio.to_thread(receive, self.lab, event, Role.RESEARCHER)

        await self.web.start(keep)

    async def work(self) -> None:
        while True:
            while await self.inbox.answer_next():
                pass
            await asyncio.to_thread(self.controller.tick)
            await self.outbox.deliver_due()
            self.clock.advance(1.0)
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def served(root: Path) -> AsyncGenerator[tuple[Served, Browser]]:
    chromium = need_program("chromium", "chromium")
    house = Served(root)
    await house.start()
    work = asyncio.create_task(house.work())
    try:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
            yield house, browser
            await browser.close()
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        await house.web.close()


async def say(page: Page, text: str) -> None:
    box = page.locator('textarea[data-testid="message-input"]')
    await box.fill(text)
    await box.press("Enter")


pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")]


async def test_the_story_on_the_page(tmp_path: Path) -> None:
    """One server for all of it: NiceGUI lives once in a process."""
    async with served(tmp_path) as (house, browser):
        await _refusals(house)
        page = await browser.new_page(viewport={"width": 1200, "height": 900})
        foreign: list[str] = []
        page.on("request", lambda r: foreign.append(r.url) if not _is_ours(r.url) else None)
        await page.goto(house.web.url)
        assert "token" not in page.url
        await say(page, ASK)
        await expect(page.get_by_test_id("card-title").filter(has_text="4 runs")).to_be_visible(timeout=20_000)
        other = await browser.new_page()
        await other.goto(house.web.url)
        await other.get_by_test_id("thread").first.click()
        await expect(other.get_by_test_id("mine")).to_have_text(ASK, timeout=20_000)
        await page.get_by_test_id("button-run_plan").click()
        await expect(page.get_by_test_id("progress")).to_be_visible(timeout=20_000)
        await expect(page.get_by_test_id("image")).to_be_visible(timeout=90_000)
        await expect(other.get_by_test_id("image")).to_be_visible(timeout=20_000)
        assert await page.get_by_test_id("progress").count() == 1
        width = await page.get_by_test_id("image").evaluate("picture => picture.naturalWidth")
        assert width > 400
        await page.reload()
        await expect(page.get_by_test_id("image")).to_be_visible(timeout=20_000)
        await _hostile_words(page)
        await _a_change_through_its_button(page)
        assert foreign == []


async def _refusals(house: Served) -> None:
    address = house.web.url.split("?")[0]
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(address)).status_code == 403
        assert (await client.get(f"{address}?token=wrong")).status_code == 403
        ours = {"cookie": f"labhand-{house.web.url.split(':')[2].split('/')[0]}={TOKEN}"}
        assert (await client.get(address, headers=ours)).status_code == 200
        assert (await client.get(address, headers={**ours, "host": "evil.example"})).status_code == 403
        assert (await client.get(address, headers={**ours, "origin": "http://evil.example"})).status_code == 403
        assert (await client.get(f"{address}images/../labhand.db", headers=ours)).status_code == 404


async def _hostile_words(page: Page) -> None:
    await page.evaluate("window.fired = 0")
    await say(
        page, "<img src=x onerror='window.fired=1'><script>window.fired=1</script> [x](javascript:window.fired=1)"
    )
    await expect(page.get_by_test_id("mine").last).to_contain_text("<img", timeout=20_000)
    await asyncio.sleep(0.5)
    assert await page.evaluate("window.fired") == 0


async def _a_change_through_its_button(page: Page) -> None:
    await page.get_by_test_id("new-thread").click()
    await say(page, ASK)
    await page.get_by_test_id("button-change_plan").click(timeout=20_000)
    await page.get_by_test_id("ask-input").fill("drop blue")
    await page.get_by_test_id("ask-send").click()
    await expect(page.get_by_test_id("card-title").filter(has_text="2 runs")).to_be_visible(timeout=20_000)


def _is_ours(url: str) -> bool:
    return url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:"))
