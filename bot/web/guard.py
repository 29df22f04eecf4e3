"""Who may use the page: only this machine, only with the token, on HTTP and on the websocket alike."""

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_NAMES = ("127.0.0.1", "localhost")
_REFUSED = (
    "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='color-scheme' content='light dark'>"
    "<title>Labhand</title><body style='font-family:system-ui,sans-serif;margin:15vh auto;max-width:34rem;"
    "padding:0 1.5rem;line-height:1.6'><h1>This page needs its link</h1>"
    "<p>Open the whole address that <code>labhand up</code> printed when it started: it ends in a token that only you "
    "can read. If it has scrolled away, stop <code>labhand up</code> and start it again: running jobs go on.</p>"
)


class Guard:
    """ASGI middleware. A wrong Host (another site's name pointed here) or a missing token is refused with 403.

    The token comes once in the address and is then kept in a cookie, named after the port, because browsers share
    cookies between the ports of a host and two labs may be open on one machine.
    """

    def __init__(self, app: App, token: str, port: int) -> None:
        self.app = app
        self.cookie = f"labhand-{port}"
        self._token = token
        self._hosts = frozenset(f"{name}:{port}" for name in _NAMES) | (
            frozenset(_NAMES) if port == 80 else frozenset()
        )
        self._headers = _security_headers(self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        asked = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        token = asked.pop("token", None) if scope["type"] == "http" else None
        if headers.get("host", "").lower() not in self._hosts or not self._same_origin(headers):
            await _refuse(scope, receive, send)
        elif token is not None and self._fits(token):
            await self._let_in(send, asked)
        elif self._fits(_cookie(headers.get("cookie", ""), self.cookie)):
            await self.app(scope, receive, self._guarded(send))
        else:
            await _refuse(scope, receive, send)

    def _fits(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self._token.encode())

    def _same_origin(self, headers: dict[str, str]) -> bool:
        """A page of another site, or of another port here, may not use the page with the person's cookie."""
        origin = headers.get("origin")
        return origin is None or origin.lower() in {f"http://{host}" for host in self._hosts}

    async def _let_in(self, send: Send, asked: dict[str, str]) -> None:
        """Keep the token in a cookie and take it out of the address."""
        target = f"/?{urlencode(asked)}" if asked else "/"
        cookie = f"{self.cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [
            (b"location", target.encode("latin-1")),
            (b"set-cookie", cookie.encode("latin-1")),
            (b"referrer-policy", b"no-referrer"),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _guarded(self, send: Send) -> Send:
        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        return with_headers


def _security_headers(hosts: frozenset[str]) -> list[tuple[bytes, bytes]]:
    """The page loads from itself alone, so no text in it can make the browser call out (NiceGUI needs the inline parts
    and compiles its templates in the browser)."""
    sockets = " ".join(f"ws://{host}" for host in sorted(hosts))
    policy = (
        "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        f"img-src 'self' data:; font-src 'self' data:; connect-src 'self' {sockets}; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return [
        (b"content-security-policy", policy.encode()),
        (b"referrer-policy", b"no-referrer"),
        (b"x-content-type-options", b"nosniff"),
        (b"cross-origin-resource-policy", b"same-origin"),
    ]


def _cookie(header: str, name: str) -> str:
    """The value of one cookie. Other programs on this host may have set cookies of any form: they are passed over."""
    for part in header.split(";"):
        key, _equals, value = part.strip().partition("=")
        if key == name:
            return value
    return ""


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else _REFUSED.encode()})
