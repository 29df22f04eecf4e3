"""What the page does, without a browser."""

from dataclasses import replace
from pathlib import Path

import pytest
from nicegui import ui
from nicegui.elements.upload_files import SmallFileUpload
from web_tab import Desk, desk

from bot.surface import InboundKind
from bot.web.feed import MemoryFeed
from lab.cards import Button, ButtonStyle, Card, Field, Image, Table, Tone

PLAN = Card(
    "plan",
    "Plan 1: 4 runs",
    "- a **note**",
    fields=(Field("model", "mlp, cnn"),),
    table=Table(("model", "lr"), (("mlp", "0.1"), ("cnn", "0.1")), "lr", "2 cells"),
    code="python -m train",
    buttons=(
        Button("run_plan", "Run", "plan:1:abc", ButtonStyle.PRIMARY),
        Button("change_plan", "Change", "plan:1:abc", ask="What should be different?"),
        Button("cancel_run", "Stop", "run:1", ButtonStyle.DANGER),
    ),
    footer="Nothing has been started.",
)


async def types(place: Desk, text: str) -> None:
    await place.triggers(place.one("message-input"), "keydown", text)


async def test_an_empty_thread_suggests_and_a_suggestion_is_sent(tmp_path: Path) -> None:
    async with desk(tmp_path) as place:
        await place.clicks(place.one("suggestion"))
        assert [event.text for event in place.events] == ["compare mlp and cnn"]
        assert place.all("suggestion") == []
        assert len(place.all("mine")) == 1
        assert place.one("thread-title").text == "compare mlp and cnn"


async def test_words_are_sent_shown_and_listed(tmp_path: Path) -> None:
    async with desk(tmp_path) as place:
        await types(place, "  hello\nyou ")
        await types(place, "   ")
        (event,) = place.events
        assert (event.kind, event.actor, event.text) == (InboundKind.MESSAGE, "ada", "hello\nyou")
        assert "hello\nyou" in place.texts()
        assert len(place.all("thread")) == 1
        assert not place.one("message-input").value


async def test_words_that_could_not_be_kept_stay_in_the_box(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with desk(tmp_path) as place:
        place.fails = True
        await types(place, "hello")
        assert place.one("message-input").value == "hello"
        assert any("could not be saved" in note for note in place.user.notify.messages)
        assert place.all("mine") == []
        assert "disk is full" in caplog.text


async def test_a_card_shows_all_its_parts(tmp_path: Path) -> None:
    (tmp_path / "m.png").write_bytes(b"png")
    images = (Image(str(tmp_path / "m.png"), "a matrix"), Image("/gone.png", "lost"))
    card = replace(PLAN, tone=Tone.GOOD, progress=0.25, images=images)
    async with desk(tmp_path) as place:
        await place.says(card)
        box = place.one("card")
        assert (box.props["data-kind"], "lh-good" in box.classes) == ("plan", True)
        texts = place.texts()
        for words in ("Plan 1: 4 runs", "- a **note**", "model", "mlp, cnn", "2 cells", "python -m train", "25%"):
            assert words in texts
        assert "Nothing has been started." in texts
        assert "The picture gone.png is no longer there. lost" in texts
        assert place.one("progress").value == 0.25
        picture = place.one("image")
        assert picture.props["alt"] == "a matrix"
        assert picture.props["src"].startswith("/images/m.png?v=")
        grid = place.one("table")
        assert [column["align"] for column in grid.columns] == ["left", "right"]
        assert [(row["0"], row["1"]) for row in grid.rows] == [("mlp", "0.1"), ("cnn", "0.1")]


async def test_an_edit_changes_a_card_where_it_stands(tmp_path: Path) -> None:
    async with desk(tmp_path) as place:
        await place.says(Card("progress", "1 of 4", progress=0.25, code="one"))
        bar, code, box = place.one("progress"), place.one("code"), place.one("card")
        await place.says(Card("progress", "3 of 4", tone=Tone.BAD, progress=0.75, code="one", footer="late"))
        assert (place.one("progress"), place.one("code"), place.one("card")) == (bar, code, box)
        assert bar.value == 0.75
        assert place.one("card-title").text == "3 of 4"
        assert {"75%", "late"} <= set(place.texts())
        assert "25%" not in place.texts()
        assert {"lh-bad"} <= set(box.classes)
        assert "lh-neutral" not in box.classes
        await place.says(Card("progress", "done"))
        assert place.all("progress") == []
        assert place.all("code") == []
        await place.says(Card("progress", "again", progress=7.0))
        assert place.one("progress").value == 1.0


async def test_a_click_is_one_event_and_waits_for_an_answer(tmp_path: Path) -> None:
    async with desk(tmp_path) as place:
        await place.says(PLAN)
        run = place.one("button-run_plan")
        await place.clicks(run)
        await place.triggers(run, "click")
        (event,) = place.events
        assert (event.kind, event.action, event.value, event.text) == (InboundKind.ACTION, "run_plan", "plan:1:abc", "")
        assert run.props["loading"] is True
        assert not place.one("button-change_plan").enabled
        await place.says(Card("progress", "running", progress=0.0), "c2")
        assert "loading" not in run.props
        assert run.enabled
        assert place.one("button-change_plan").enabled


async def test_a_click_that_could_not_be_kept_is_given_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with desk(tmp_path) as place:
        await place.says(PLAN)
        place.fails = True
        await place.clicks(place.one("button-run_plan"))
        assert place.one("button-run_plan").enabled
        assert "could not be kept" in caplog.text


async def test_a_button_that_asks_sends_the_answer(tmp_path: Path) -> None:
    async with desk(tmp_path) as place:
        await place.says(PLAN)
        await place.clicks(place.one("button-change_plan"))
        assert "What should be different?" in place.texts()
        await place.clicks(place.one("ask-send"))
        assert place.events == []
        place.one("ask-input").value = "  drop cnn "
        await place.clicks(place.one("ask-send"))
        (event,) = place.events
        assert (event.action, event.text) == ("change_plan", "drop cnn")
        assert "drop cnn" in place.texts()


async def test_a_dangerous_button_asks_whether_it_is_meant(tmp_path: Path) -> None:
    async with desk(tmp_path) as place:
        await place.says(PLAN)
        await place.clicks(place.one("button-cancel_run"))
        assert place.events == []
        assert "Stop?" in place.texts()
        await place.clicks(place.one("confirm"))
        assert [event.action for event in place.events] == ["cancel_run"]


async def test_the_sign_of_work_comes_and_goes(tmp_path: Path) -> None:
    async with desk(tmp_path) as place:
        sign = place.one("working")
        assert not sign.visible
        place.hub.working(place.tab.thread, "thinking…")
        assert sign.visible
        assert "thinking…" in place.texts()
        place.hub.working("elsewhere", "")
        assert sign.visible
        place.hub.working(place.tab.thread, "")
        assert not sign.visible


async def test_threads_change_in_place_and_unread_ones_are_marked(tmp_path: Path) -> None:
    async with desk(tmp_path) as place:
        await types(place, "first")
        first = place.tab.thread
        await place.clicks(place.one("new-thread"))
        assert place.tab.thread != first
        assert place.all("mine") == []
        assert len(place.all("suggestion")) == 1
        await place.says(PLAN, thread=first)
        assert place.all("card") == []
        assert len(place.all("unread")) == 1
        await place.clicks(place.one("thread"))
        assert place.tab.thread == first
        assert len(place.all("card")) == 1
        assert place.all("unread") == []


async def test_a_link_to_a_thread_opens_it_with_its_sign_of_work(tmp_path: Path) -> None:
    feed = MemoryFeed()
    feed.said("web-1", "c1", PLAN)
    async with desk(tmp_path, path="/?thread=web-1", feed=feed) as place:
        assert len(place.all("card")) == 1
        assert place.one("thread").props["aria-current"] == "page"


async def test_a_long_thread_starts_at_its_end(tmp_path: Path) -> None:
    feed = MemoryFeed()
    for number in range(150):
        feed.said("web-1", f"c{number}", Card("note", f"card {number}"))
    async with desk(tmp_path, path="/?thread=web-1", feed=feed) as place:
        assert [card.props["aria-label"] for card in place.all("card")][::59] == ["card 90", "card 149"]
        await place.clicks(place.one("earlier"))
        assert len(place.all("card")) == 120
        await place.says(Card("note", "card 150"), "c150", "web-1")
        await place.clicks(place.one("earlier"))
        titles = [card.props["aria-label"] for card in place.all("card")]
        assert titles == [f"card {number}" for number in range(151)]
        assert place.all("earlier") == []


async def test_a_log_file_is_handed_in_with_its_name_and_folded(tmp_path: Path) -> None:
    async with desk(tmp_path) as place:
        upload = place.one("upload")
        data = "\n".join(f"line {number}" for number in range(500)).encode()
        await upload.handle_uploads([SmallFileUpload("out.log", "text/plain", data)])
        await place.settles(lambda: bool(place.events))
        (event,) = place.events
        assert (event.kind, event.value, event.text) == (InboundKind.FILE, "out.log", data.decode())
        await place.settles(lambda: bool(place.all("unfold")))
        assert not any("line 400" in text for text in place.texts())
        await place.clicks(place.one("unfold"))
        assert any("line 400" in text for text in place.texts())


@pytest.mark.parametrize(("data", "said"), [(b"\x89PNG\0\0", "is not a text file"), (b" \n", "is empty")])
async def test_a_file_of_no_use_is_not_handed_in(tmp_path: Path, data: bytes, said: str) -> None:
    async with desk(tmp_path) as place:
        await place.one("upload").handle_uploads([SmallFileUpload("x.bin", "application/x", data)])
        await place.settles(lambda: bool(place.user.notify.messages))
        assert said in place.user.notify.messages[0]
        assert place.events == []


async def test_a_persona_writes_under_its_own_name(tmp_path: Path) -> None:
    feed = MemoryFeed()
    async with desk(tmp_path, path="/?thread=web-1&as=bob", personas=True, feed=feed) as place:
        await types(place, "I approve")
        assert place.events[0].actor == "bob"
        assert {item.props["data-testid"] for item in place.all("persona")} == {"persona"}
        await place.user.open("/?thread=web-1")
        assert len(place.all("theirs")) == 1
        assert "bob" in place.texts()


async def test_without_personas_nobody_acts_as_somebody_else(tmp_path: Path) -> None:
    async with desk(tmp_path, path="/?as=bob") as place:
        await types(place, "hello")
        assert place.events[0].actor == "ada"
        assert place.all("persona") == []
        assert place.one("user").text == "ada"


async def test_hostile_words_reach_the_page_as_text_only(tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    card = Card(hostile, hostile, hostile, fields=(Field(hostile, hostile),), code=hostile, footer=hostile,
                table=Table((hostile,), ((hostile,),), caption=hostile),
                buttons=(Button(hostile, hostile, hostile),), images=(Image(hostile, hostile),))  # fmt: skip
    async with desk(tmp_path) as place:
        await types(place, hostile)
        await place.says(card)
        client = place.user.client
        assert client is not None
        elements = list(client.layout.descendants())
        assert not any(isinstance(element, ui.html) for element in elements)
        inner = [element.props["innerHTML"] for element in elements if "innerHTML" in element.props]
        assert inner
        assert not any("<img" in markup for markup in inner)
        assert all(element.props.get("sanitize") is True for element in elements if isinstance(element, ui.markdown))
        assert place.one(f"button-{hostile}").props["label"] == hostile


async def test_light_or_dark_follows_the_system_until_chosen(tmp_path: Path) -> None:
    async with desk(tmp_path) as place:
        (dark,) = [e for e in place.user.client.elements.values() if isinstance(e, ui.dark_mode)]  # type: ignore[union-attr]
        assert dark.value is None
        await place.triggers(place.one("theme"), "click", True)
        assert dark.value is True
