"""The page as a surface: NiceGUI on loopback, in the same loop as the rest of the bot."""

import asyncio
import contextlib
import secrets
import socket
import uuid
from pathlib import Path
from typing import Any

from bot.surface import Receiver, SurfaceLimits
from bot.web.feed import ThreadFeed
from bot.web.guard import Guard
from lab.cards import Card
from lab.errors import LabError

HOST = "127.0.0.1"


class WebSurface:
    """Serves the page until it is closed. `port` 0 takes a free one; `url` carries the token."""

    def __init__(self, feed: ThreadFeed, *, port: int, token: str, user: str, images_root: Path) -> None:
        self._feed = feed
        self._port = port
        self._token = token
        self._user = user
        self._images = images_root
        self._tabs: set[Any] = set()
        self._server: Any = None
        self._task: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return "web"

    @property
    def limits(self) -> SurfaceLimits:
        return SurfaceLimits()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._port}/?token={self._token}"

    async def start(self, receive: Receiver) -> None:
        """Serve. Raises `LabError` when the port is taken."""
        import uvicorn

        listener = _listen(self._port)
        self._port = listener.getsockname()[1]
        app = Guard(self._application(receive), self._token)
        config = uvicorn.Config(
            app, log_level="warning", lifespan="on", ws="websockets-sansio", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._task = asyncio.create_task(_serve(self._server, listener))
        while not self._server.started and not self._task.done():
            await asyncio.sleep(0.02)

    async def send(self, thread: str, card: Card) -> str:
        await self._moved(thread)
        return uuid.uuid4().hex

    async def edit(self, thread: str, message_id: str, card: Card) -> None:
        await self._moved(thread)

    async def working(self, thread: str, note: str) -> None:
        for tab in [tab for tab in self._tabs if tab.thread == thread]:
            tab.working(note)

    async def close(self) -> None:
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _moved(self, thread: str) -> None:
        for tab in [tab for tab in self._tabs if tab.thread == thread]:
            await tab.refresh()

    def _application(self, receive: Receiver) -> Any:
        from fastapi import FastAPI
        from nicegui import app as pages
        from nicegui import ui

        from bot.web.page import Tab, image_url

        api = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

        @ui.page("/")
        async def conversation(thread: str | None = None) -> None:
            tab = Tab(self._feed, receive, self._user, lambda path: image_url(self._images, path), thread)
            client = ui.context.client
            self._tabs.add(tab)
            client.on_delete(lambda: self._tabs.discard(tab))
            await tab.build()

        pages.add_static_files("/images", str(self._images))
        ui.run_with(api, title="Labhand", storage_secret=secrets.token_hex(16), show_welcome_message=False)
        return api


async def _serve(server: Any, listener: socket.socket) -> None:
    try:
        await server.serve(sockets=[listener])
    finally:
        listener.close()


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise LabError(
            f"Port {port} on {HOST} is taken.", next_step="Set LABHAND_WEB_PORT to another, or to 0 for a free one."
        ) from error
    return listener
