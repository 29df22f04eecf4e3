"""The page as a surface. NiceGUI is imported when it starts, so that naming the surface costs nothing."""

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bot.surface import Receiver, SurfaceLimits
from bot.web.feed import ThreadFeed
from bot.web.hub import NAME, Hub
from lab.cards import Card

if TYPE_CHECKING:
    from bot.web.server import PageServer

SUGGESTIONS = (
    "compare mlp and cnn on digits with lr 0.1 and 0.01, 2 seeds",
    "what can you do?",
    "what is in the queue?",
    "比较mlp和cnn在digits上的表现，学习率0.1和0.01",
)


class WebSurface:
    """Serves the page on 127.0.0.1 until it is closed. `port` 0 takes a free one; `url` carries the token.

    The page acts as `user`; with `personas`, `?as=NAME` acts as somebody else, to try approvals with two people.
    Only pictures below `images_root` are shown. `suggestions` are offered where nothing was said yet.
    """

    def __init__(
        self,
        feed: ThreadFeed,
        *,
        port: int,
        token: str,
        user: str,
        images_root: Path,
        suggestions: Sequence[str] = SUGGESTIONS,
        personas: bool = False,
    ) -> None:
        if not token:
            raise ValueError("the page needs a token: without one anybody on this machine could use it")
        self._feed = feed
        self._port = port
        self._token = token
        self._user = user
        self._images = images_root
        self._suggestions = tuple(suggestions)
        self._personas = personas
        self._hub: Hub | None = None
        self._server: PageServer | None = None

    @property
    def name(self) -> str:
        return NAME

    @property
    def limits(self) -> SurfaceLimits:
        return SurfaceLimits()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/?token={self._token}"

    async def start(self, receive: Receiver) -> None:
        """Serve, in the running loop. Raises `LabError` when the port is taken or the page does not come up."""
        from bot.web.server import PageServer, listen

        listener = listen(self._port)
        self._hub = Hub(self._feed, receive, self._user, self._images, self._suggestions, self._personas)
        self._server = PageServer(self._hub, self._token, listener)
        self._port = self._server.port
        await self._server.start()

    async def send(self, thread: str, card: Card) -> str:
        """Show what the feed holds now in every open tab, and mark the thread as unread for those elsewhere."""
        if self._hub is not None:
            await self._hub.said(thread)
        return uuid.uuid4().hex

    async def edit(self, thread: str, message_id: str, card: Card) -> None:
        """Show what the feed holds now in every open tab of the thread, in place."""
        if self._hub is not None:
            await self._hub.moved(thread)

    async def working(self, thread: str, note: str) -> None:
        if self._hub is not None:
            self._hub.working(thread, note)

    async def close(self) -> None:
        if self._server is not None:
            await self._server.close()
            self._server = None
