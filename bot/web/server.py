"""Serving the page: NiceGUI within a FastAPI application, in the loop that is already running."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Generator
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import FileResponse
from nicegui import Client, ui
from nicegui import app as nicegui_app

from bot.web.files import picture_file
from bot.web.guard import Guard
from bot.web.hub import Hub
from bot.web.page import Tab
from lab.errors import LabError

HOST = "127.0.0.1"
_FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#5b5bd6"/>'
    '<g fill="#fff"><rect x="8" y="8" width="7" height="7" rx="2"/><rect x="17" y="8" width="7" height="7" rx="2" '
    'opacity=".55"/><rect x="8" y="17" width="7" height="7" rx="2" opacity=".55"/><rect x="17" y="17" width="7" '
    'height="7" rx="2"/></g></svg>'
)


class _Embedded(uvicorn.Server):
    """A server that leaves the signals to the process it lives in."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


class PageServer:
    """One at a time in a process, because NiceGUI lives once in it; after `close` another may start."""

    def __init__(self, hub: Hub, token: str, listener: socket.socket) -> None:
        self._listener = listener
        self.port: int = listener.getsockname()[1]
        guarded: Any = Guard(application(hub), token, self.port)
        config = uvicorn.Config(
            guarded,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="on",
            ws="websockets-sansio",
            timeout_graceful_shutdown=1,
        )
        self._server = _Embedded(config)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Serve from now on. Raises `LabError` when the page does not come up."""
        self._task = asyncio.create_task(self._serve())
        while not self._server.started:
            if self._task.done():
                raise LabError(
                    "The local chat page did not come up.", next_step="Look at Labhand's log for the reason."
                ) from self._task.exception()
            await asyncio.sleep(0.01)

    async def close(self) -> None:
        """Stop serving; the browsers reconnect by themselves when the page is back."""
        self._server.should_exit = True
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
        for client in list(Client.instances.values()):
            client.delete()

    async def _serve(self) -> None:
        try:
            await self._server.serve(sockets=[self._listener])
        except SystemExit as error:
            raise RuntimeError("the web server gave up while starting") from error
        finally:
            self._listener.close()


def listen(port: int) -> socket.socket:
    """Take the port on loopback; 0 takes a free one. Raises `LabError`."""
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


def application(hub: Hub) -> FastAPI:
    """The page and its pictures, without the guard."""
    logging.getLogger("nicegui").setLevel(logging.WARNING)
    _forget_the_last_page()
    api = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @api.get("/images/{path:path}")
    def image(path: str) -> FileResponse:
        file = picture_file(hub.images, path)
        if file is None:
            raise HTTPException(404)
        return FileResponse(file, headers={"cache-control": "private, max-age=31536000, immutable"})

    register_page(hub)
    ui.run_with(
        api, title="Labhand", favicon=_FAVICON, dark=None, tailwind=False, reconnect_timeout=30.0,
        show_welcome_message=False,
    )  # fmt: skip
    return api


def register_page(hub: Hub) -> None:
    """Answer `/` with a tab of this hub."""

    @ui.page("/", title="Labhand")
    async def conversation(request: Request) -> None:
        asked = request.query_params
        tab = Tab(hub, asked.get("thread"), asked.get("as"))
        ui.context.client.on_delete(lambda: hub.tabs.discard(tab))
        await tab.build(request.cookies.get("labhand-theme"))


def _forget_the_last_page() -> None:
    nicegui_app.remove_route("/")
    if nicegui_app.middleware_stack is not None:
        nicegui_app.middleware_stack = None
        nicegui_app.user_middleware.clear()
