"""The page in a real browser, with a scripted Labhand behind it."""

import asyncio
import contextlib
import struct
import zlib
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Page, expect

from bot.surface import InboundKind
from bot.web.surface import WebSurface
from lab.cards import Card
from lab.errors import LabError
from tests.integration.web.browser import Watched, chromium, say
from tests.integration.web.scripted import HOSTILE, TOKEN, Scripted

pytestmark = pytest.mark.slow
ASK = "compare mlp and cnn on digits with lr 0.1 and 0.01"


def png(width: int = 640, height: int = 400) -> bytes:
    """A picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = (b"\0" + b"\x80" * width) * height
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@contextlib.asynccontextmanager
async def served(root: Path, **options: object) -> AsyncGenerator[Scripted]:
    images = root / "images"
    images.mkdir()
    (images / "matrix.png").write_bytes(png())
    (root / "secret.png").write_bytes(png())
    scripted = Scripted(images, images / "matrix.png", **options)  # type: ignore[arg-type]
    await scripted.web.start(scripted.receive)
    try:
        yield scripted
    finally:
        await scripted.close()


def address(scripted: Scripted) -> str:
    return scripted.web.url.split("?")[0]


async def planned(watched: Watched, scripted: Scripted, **context: object) -> Page:
    """A page on which a plan was asked for and shown."""
    page = await watched.page(**context)
    await page.goto(scripted.web.url)
    await say(page, ASK)
    await expect(page.get_by_test_id("card-title")).to_have_text("Plan 1: 4 runs with digits", timeout=20_000)
    return page


async def test_the_story_from_a_message_to_the_matrix(tmp_path: Path) -> None:
    async with served(tmp_path) as scripted, chromium() as watched:
        page = await planned(watched, scripted)
        assert TOKEN not in page.url
        await expect(page).to_have_title(f"{ASK} · Labhand")
        other = await watched.page()
        await other.goto(f"{scripted.web.url}&{page.url.split('?')[1]}")
        await expect(other.get_by_test_id("mine")).to_have_text(ASK)
        scripted.pause_s = 0.6
        await page.get_by_test_id("button-run_plan").click()
        bar = page.get_by_test_id("progress")
        await expect(bar).to_be_visible(timeout=20_000)
        await bar.evaluate("bar => { bar.stays = true }")
        await expect(page.get_by_text("50%")).to_be_visible()
        await expect(other.get_by_text("50%")).to_be_visible()
        await expect(page.get_by_text("Run 3 failed and is tried again (1 of 3)")).to_be_visible()
        for browser in (page, other):
            picture = browser.get_by_test_id("image")
            await expect(picture).to_be_visible(timeout=20_000)
            assert await picture.evaluate("picture => picture.naturalWidth") == 640
        assert await bar.evaluate("bar => bar.stays"), "the bar was edited in place, not drawn anew"
        assert await bar.get_attribute("aria-valuenow") == "1"
        await expect(page.get_by_test_id("working")).to_be_hidden()
        before = await page.get_by_test_id("feed").inner_text()
        assert await other.get_by_test_id("feed").inner_text() == before
        await page.reload()
        await expect(page.get_by_test_id("image")).to_be_visible(timeout=20_000)
        assert await page.get_by_test_id("feed").inner_text() == before


async def test_who_has_no_token_is_told_how_to_get_the_link(tmp_path: Path) -> None:
    async with served(tmp_path) as scripted, chromium() as watched:
        page = await watched.page()
        for wrong in ("", "?token=wrong"):
            answer = await page.goto(address(scripted) + wrong)
            assert answer is not None
            assert answer.status == 403
            await expect(page.get_by_role("heading")).to_have_text("This page needs its link")
        port = address(scripted).split(":")[2].strip("/")
        ours = {"cookie": f"labhand-{port}={TOKEN}"}
        async with httpx.AsyncClient(trust_env=False) as client:

            async def status(path: str, **headers: str) -> int:
                return (await client.get(address(scripted) + path, headers=headers)).status_code

            assert await status("", **ours) == 200
            assert await status("", **ours, host="evil.example") == 403
            assert await status("", **ours, host=f"evil.example:{port}") == 403
            assert await status("", **ours, origin="http://evil.example") == 403
            assert await status("images/matrix.png", **ours) == 200
            assert await status("images/matrix.png") == 403
            assert await status("images/..%2Fsecret.png", **ours) == 404
            assert await status("images/%2Fetc%2Fpasswd", **ours) == 404
            assert await status("_nicegui_ws/socket.io/?EIO=4&transport=polling") == 403
            assert await status("docs", **ours) == 404


async def test_the_websocket_is_refused_without_the_cookie(tmp_path: Path) -> None:
    async with served(tmp_path) as scripted:
        host, port = address(scripted).split("/")[2].split(":")
        path = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
        cookie = f"Cookie: labhand-{port}={TOKEN}"
        assert await handshake(host, int(port), path, cookie) == 101
        assert await handshake(host, int(port), path) == 403
        assert await handshake(host, int(port), path, cookie, "Origin: http://evil.example") == 403
        assert await handshake(host, int(port), path, cookie, named="evil.example") == 403


async def handshake(host: str, port: int, path: str, *more: str, named: str | None = None) -> int:
    """The status with which the server answers to a websocket that is being opened."""
    reader, writer = await asyncio.open_connection(host, port)
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: {named or f'{host}:{port}'}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        *more,
    ]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    status = (await asyncio.wait_for(reader.readline(), 10)).split()[1]
    writer.close()
    await writer.wait_closed()
    return int(status)


async def test_hostile_words_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    async with served(tmp_path) as scripted, chromium() as watched:
        page = await watched.page()
        await page.goto(scripted.web.url)
        await page.evaluate("window.fired = 0")
        await say(page, "hostile")
        text = page.locator(".lh-text")
        await expect(text).to_contain_text("<script>window.fired = 1</script>", timeout=20_000)
        await expect(text).to_contain_text('<img src=x onerror="window.fired = 1">')
        await expect(text.locator("code")).to_have_text("<b>in code</b>")
        assert await text.locator("script, img, iframe, style, svg, [onclick]").count() == 0
        assert await text.locator("a").evaluate_all("links => links.map(link => link.getAttribute('href'))") == [
            None,
            "https://example.org/page",
            None,
        ]
        await text.get_by_text("press").click()
        await text.get_by_text("raw", exact=True).click()
        await say(page, HOSTILE)
        await expect(page.get_by_test_id("mine").last).to_contain_text("<iframe")
        await asyncio.sleep(0.5)
        assert await page.evaluate("window.fired") == 0


async def test_a_script_that_got_through_could_call_no_other_machine(tmp_path: Path) -> None:
    async with served(tmp_path) as scripted, chromium() as watched:
        page = await watched.page()
        await page.goto(scripted.web.url)
        blocked = (
            "new Promise(done => { const i = new Image(); i.onload = () => done('in'); i.onerror = () => done('out');"
        )
        assert await page.evaluate(blocked + " i.src = 'http://127.0.0.2:1/leak.png' })") == "out"
        call = "fetch('http://127.0.0.2:1/').then(() => 'in', error => 'out')"
        seen = "new Promise(done => addEventListener('securitypolicyviolation', e => done(e.effectiveDirective)))"
        assert await page.evaluate(f"Promise.all([{seen}, {call}])") == ["connect-src", "out"]
        watched.foreign.clear()


async def test_a_question_a_danger_and_a_picture_by_keyboard(tmp_path: Path) -> None:
    async with served(tmp_path) as scripted, chromium() as watched:
        page = await planned(watched, scripted)
        await page.get_by_test_id("button-change_plan").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_test_id("ask-input")).to_be_focused()
        await page.keyboard.type("drop cnn")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text("ada pressed change_plan")).to_be_visible()
        assert scripted.events[-1].text == "drop cnn"
        await page.get_by_test_id("button-run_plan").click()
        stop = page.get_by_test_id("button-cancel_plan").last
        scripted.pause_s = 1.0
        await expect(page.get_by_test_id("progress")).to_be_visible()
        await page.get_by_test_id("card").last.get_by_text("Stop").click()
        await page.get_by_text("Keep it as it is").click()
        await expect(page.get_by_test_id("confirm")).to_have_count(0)
        assert scripted.events[-1].action == "run_plan"
        await expect(page.get_by_test_id("image")).to_be_visible(timeout=20_000)
        await page.locator(".lh-picture").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_test_id("image-large")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.get_by_test_id("image-large")).to_have_count(0)
        await expect(stop).to_be_visible()


async def test_a_clicked_button_spins_until_there_is_an_answer(tmp_path: Path) -> None:
    async with served(tmp_path) as scripted, chromium() as watched:
        page = await planned(watched, scripted)
        scripted.pause_s = 1.5
        run = page.get_by_test_id("button-run_plan")
        await run.dblclick()
        await expect(run.locator(".q-spinner")).to_be_visible()
        await expect(page.get_by_test_id("button-cancel_plan").first).to_be_disabled()
        await expect(page.get_by_test_id("working")).to_contain_text("reading your message")
        await expect(page.get_by_test_id("progress")).to_be_visible(timeout=20_000)
        await expect(run).to_be_enabled()
        assert [event.action for event in scripted.events].count("run_plan") == 1


async def test_enter_sends_but_not_within_a_word_or_with_shift(tmp_path: Path) -> None:
    async with served(tmp_path) as scripted, chromium() as watched:
        page = await watched.page()
        await page.goto(scripted.web.url)
        box = page.locator('textarea[data-testid="message-input"]')
        await box.press_sequentially("one")
        await box.press("Shift+Enter")
        await box.press_sequentially("two")
        composing = "new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true})"
        await box.evaluate(f"box => box.dispatchEvent({composing})")
        await asyncio.sleep(0.3)
        assert scripted.events == []
        await box.press("Enter")
        await expect(page.get_by_test_id("mine")).to_have_text("one\ntwo")
        await expect(box).to_have_value("")
        scripted.broken = True
        await say(page, "this can't be kept")
        await expect(page.get_by_text("could not be saved")).to_be_visible()
        await expect(box).to_have_value("this can't be kept")


async def test_a_log_is_attached_or_dropped(tmp_path: Path) -> None:
    log = tmp_path / "out.log"
    log.write_text("\n".join(f"step {number}" for number in range(2000)) + "\nRuntimeError: CUDA out of memory")
    async with served(tmp_path) as scripted, chromium() as watched:
        page = await watched.page()
        await page.goto(scripted.web.url)
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("button", name="Attach a log file").click()
        await (await chooser.value).set_files(log)
        await expect(page.get_by_test_id("card-title")).to_have_text(f"Read out.log: {log.stat().st_size} characters")
        assert (scripted.events[0].kind, scripted.events[0].text) == (InboundKind.FILE, log.read_text())
        await expect(page.get_by_test_id("unfold")).to_have_text("Show all (2,001 lines)")
        drop = """() => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File(['loss=nan'], 'b.log'));
            document.body.dispatchEvent(new DragEvent('drop', {dataTransfer, bubbles: true, cancelable: true}));
        }"""
        await page.evaluate(drop)
        await expect(page.get_by_test_id("card-title").last).to_have_text("Read b.log: 8 characters")


async def test_threads_open_in_place_and_the_back_button_returns(tmp_path: Path) -> None:
    async with served(tmp_path) as scripted, chromium() as watched:
        page = await planned(watched, scripted)
        first = page.url
        await page.get_by_test_id("new-thread").click()
        await expect(page.get_by_test_id("suggestion").first).to_be_visible()
        await say(page, "another question")
        await expect(page.get_by_test_id("thread")).to_have_count(2)
        await expect(page.get_by_test_id("card")).to_have_count(1)
        await scripted.say(scripted.events[0].thread, Card("note", "news of the first"))
        await expect(page.get_by_test_id("unread")).to_have_count(1)
        await page.get_by_test_id("thread").filter(has_text=ASK).click()
        await expect(page.get_by_text("news of the first")).to_be_visible()
        await expect(page.get_by_test_id("unread")).to_have_count(0)
        assert page.url == first
        await page.go_back()
        await expect(page.get_by_test_id("mine")).to_have_text("another question")


async def test_two_people_of_one_page(tmp_path: Path) -> None:
    async with served(tmp_path, personas=True) as scripted, chromium() as watched:
        page = await planned(watched, scripted)
        await page.get_by_test_id("user").click()
        await page.locator('input[data-testid="persona-name"]').fill("grace")
        await page.locator('input[data-testid="persona-name"]').press("Enter")
        await expect(page.get_by_test_id("user")).to_contain_text("grace", timeout=20_000)
        await expect(page.get_by_test_id("theirs")).to_have_text(ASK)
        await page.get_by_test_id("button-cancel_plan").click()
        await expect(page.get_by_text("grace pressed cancel_plan")).to_be_visible()
        assert [event.actor for event in scripted.events] == ["ada", "grace"]
        await page.get_by_test_id("user").click()
        await page.get_by_test_id("persona").filter(has_text="ada").click()
        await expect(page.get_by_test_id("mine")).to_have_text(ASK, timeout=20_000)


async def test_on_a_phone_all_fits_and_the_list_slides_in(tmp_path: Path) -> None:
    async with served(tmp_path) as scripted, chromium() as watched:
        page = await planned(watched, scripted, viewport={"width": 360, "height": 740}, has_touch=True)
        wide = "document.documentElement.scrollWidth - innerWidth"
        assert await page.evaluate(wide) <= 0
        await expect(page.get_by_test_id("new-thread")).not_to_be_in_viewport()
        await page.get_by_role("button", name="Conversations").click()
        await page.get_by_test_id("new-thread").click()
        await expect(page.get_by_test_id("suggestion").first).to_be_in_viewport()
        await expect(page.get_by_test_id("new-thread")).not_to_be_in_viewport()
        assert await page.evaluate(wide) <= 0


async def test_dark_follows_the_system_until_a_person_chooses(tmp_path: Path) -> None:
    async with served(tmp_path) as scripted, chromium() as watched:
        page = await watched.page(color_scheme="dark")
        await page.goto(scripted.web.url)
        body = page.locator("body")
        await expect(body).to_contain_class("body--dark")
        await page.emulate_media(color_scheme="light")
        await expect(body).to_contain_class("body--light")
        await page.get_by_test_id("theme").click()
        await expect(body).to_contain_class("body--dark")
        await page.reload()
        await expect(body).to_contain_class("body--dark")
        await page.get_by_test_id("theme").click()
        await expect(body).to_contain_class("body--light")
        await page.emulate_media(color_scheme="dark")
        await expect(body).to_contain_class("body--dark")


async def test_whatever_can_be_pressed_has_a_name(tmp_path: Path) -> None:
    async with served(tmp_path) as scripted, chromium() as watched:
        page = await planned(watched, scripted)
        await page.get_by_test_id("button-run_plan").click()
        await expect(page.get_by_test_id("image")).to_be_visible(timeout=20_000)
        nameless = """() => [...document.querySelectorAll('button, a[href], textarea, input:not([type=file])')]
            .filter(e => e.offsetParent)
            .filter(e => !(e.ariaLabel || e.title || e.innerText.replace(/[a-z]+_[a-z]+/g, '').trim()))
            .map(e => e.outerHTML.slice(0, 200))"""
        assert await page.evaluate(nameless) == []
        assert await page.locator("img:not([alt])").count() == 0


async def test_a_browser_finds_the_page_again_after_a_restart(tmp_path: Path) -> None:
    async with served(tmp_path) as scripted, chromium() as watched:
        page = await planned(watched, scripted)
        port, images = int(address(scripted).split(":")[2].strip("/")), tmp_path / "images"
        taken = WebSurface(scripted.feed, port=port, token=TOKEN, user="ada", images_root=images)
        with pytest.raises(LabError, match=f"Port {port} on 127.0.0.1 is taken"):
            await taken.start(scripted.receive)
        await scripted.web.close()
        scripted.feed.said(scripted.events[0].thread, "later", Card("note", "said while the page was away"))
        scripted.web = taken
        await scripted.web.start(scripted.receive)
        await expect(page.get_by_text("said while the page was away")).to_be_visible(timeout=60_000)
        await say(page, "hello again")
        await expect(page.get_by_test_id("mine").last).to_have_text("hello again", timeout=20_000)


def test_a_page_without_a_token_is_not_built(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="token"):
        WebSurface(Scripted(tmp_path, tmp_path).feed, port=0, token="", user="ada", images_root=tmp_path)
