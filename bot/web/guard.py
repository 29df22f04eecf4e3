"""Who may use the page: only this machine, only with the token, on HTTP and on the websocket alike."""

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "labhand"
_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_REFUSED = (
    "<!doctype html><title>Labhand</title><body style='font-family:system-ui;margin:4rem;max-width:40rem'>"
    "<h1>This page needs its link</h1><p>Open the address that <code>labhand up</code> printed: it carries a token "
    "that only you can read. <code>labhand up</code> prints it again when it starts.</p>"
)


class Guard:
    """ASGI middleware. A wrong Host (another site's name pointed here) or a missing token is refused with 403."""

    def __init__(self, app: App, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if not _is_local(headers.get("host", "")) or not _same_site(headers):
            await _refuse(scope, receive, send)
        elif self._fits(_cookie(headers.get("cookie", ""))):
            await self._app(scope, receive, send)
        elif scope["type"] == "http" and self._fits(_query(scope)):
            await _let_in(send, self._token)
        else:
            await _refuse(scope, receive, send)

    def _fits(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self._token.encode())


def _is_local(host: str) -> bool:
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    return name in _HOSTS


def _same_site(headers: dict[str, str]) -> bool:
    """A page of another site may not reach the websocket with the person's cookie."""
    origin = headers.get("origin")
    return origin is None or _is_local(origin.split("://", 1)[-1])


def _cookie(header: str) -> str:
    found = SimpleCookie(header).get(COOKIE)
    return found.value if found is not None else ""


def _query(scope: Scope) -> str:
    return parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]


async def _let_in(send: Send, token: str) -> None:
    """Keep the token in a cookie and take it out of the address."""
    cookie = f"{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict"
    headers = [(b"location", b"/"), (b"set-cookie", cookie.encode("latin-1")), (b"referrer-policy", b"no-referrer")]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": _REFUSED.encode()})
