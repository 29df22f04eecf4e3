"""Who is let in, on HTTP and on the websocket."""

from collections.abc import MutableMapping
from typing import Any

import httpx
import pytest

from bot.web.guard import Guard

TOKEN, PORT = "s3cret-token", 8642
HOST = f"127.0.0.1:{PORT}"
OURS = {"host": HOST, "cookie": f"labhand-{PORT}={TOKEN}"}


class Inner:
    """The application behind the guard: it counts who comes through."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        self.seen.append(scope["type"])
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"x-inner", b"1")]})
            await send({"type": "http.response.body", "body": b"the page"})
        elif scope["type"] == "websocket":
            await send({"type": "websocket.accept"})


async def get(path: str = "/", method: str = "GET", **headers: str) -> httpx.Response:
    transport = httpx.ASGITransport(Guard(Inner(), TOKEN, PORT))
    async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
        return await client.request(method, path, headers=headers)


async def connect(**headers: str) -> list[str]:
    """What is sent to a browser that opens the websocket."""
    said: list[str] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        said.append(message["type"])

    scope = {
        "type": "websocket",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    await Guard(Inner(), TOKEN, PORT)(scope, receive, send)
    return said


async def test_the_token_is_taken_out_of_the_address_into_a_cookie() -> None:
    answer = await get(f"/?token={TOKEN}&thread=web-1&as=bo+b")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?thread=web-1&as=bo+b"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"labhand-{PORT}={TOKEN};")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


async def test_the_token_leaves_the_address_even_with_a_cookie() -> None:
    answer = await get(f"/?token={TOKEN}", **OURS)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


async def test_a_redirect_never_leaves_the_page() -> None:
    answer = await get(f"//evil.example/?token={TOKEN}&next=http://evil.example/")
    assert answer.headers["location"].startswith("/?")


async def test_with_the_cookie_the_page_comes_with_its_policy() -> None:
    answer = await get(**OURS)
    assert (answer.status_code, answer.text) == (200, "the page")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "img-src 'self' data:;" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}),
        ("/?token=wrong", {}),
        ("/?token=", {}),
        ("/", {"cookie": f"labhand-{PORT}=wrong"}),
        ("/", {"cookie": f"labhand={TOKEN}"}),
        ("/", {"cookie": f"labhand-1{PORT}={TOKEN}"}),
        ("/", {**OURS, "host": "evil.example"}),
        ("/", {**OURS, "host": f"evil.example:{PORT}"}),
        ("/", {**OURS, "host": "127.0.0.1:1"}),
        ("/", {**OURS, "host": f"127.0.0.1.evil.example:{PORT}"}),
        ("/", {**OURS, "origin": "http://evil.example"}),
        ("/", {**OURS, "origin": "http://localhost:3000"}),
        ("/", {**OURS, "origin": "null"}),
        (f"/?token={TOKEN}", {"host": "evil.example"}),
        ("/images/matrix.png", {}),
        ("/_nicegui_ws/socket.io/?transport=polling", {}),
    ],
)
async def test_all_else_is_refused_and_told_how_to_get_the_link(path: str, headers: dict[str, str]) -> None:
    answer = await get(path, **headers)
    assert answer.status_code == 403
    assert "labhand up" in answer.text
    assert TOKEN not in answer.text
    assert "x-inner" not in answer.headers


async def test_a_wrong_token_is_refused_even_with_the_cookie_missing_its_own() -> None:
    answer = await get("/?token=w%F0rong%00", host=HOST)
    assert answer.status_code == 403


async def test_head_has_no_body() -> None:
    answer = await get(method="HEAD")
    assert (answer.status_code, answer.content) == (403, b"")


@pytest.mark.parametrize(
    "others", ['{"json": 1}; {c}', "a,b=1; {c}", "{c}; x", 'q="a;b"; {c}', "=; ; {c}", "Path=/; HttpOnly; {c}"]
)
async def test_cookies_of_other_programs_do_no_harm(others: str) -> None:
    cookie = others.replace("{c}", OURS["cookie"])
    assert (await get(host=HOST, cookie=cookie)).status_code == 200


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LocalHost"])
async def test_both_names_of_this_machine_serve(name: str) -> None:
    assert (await get(**{**OURS, "host": f"{name}:{PORT}"})).status_code == 200


async def test_the_websocket_is_guarded_alike() -> None:
    assert await connect(**OURS) == ["websocket.accept"]
    assert await connect(**OURS, origin=f"http://{HOST}") == ["websocket.accept"]
    assert await connect(host=HOST) == ["websocket.close"]
    assert await connect(**OURS, origin="http://evil.example") == ["websocket.close"]
    assert await connect(**OURS, origin="http://127.0.0.1:9999") == ["websocket.close"]
    assert await connect(**{**OURS, "host": "evil.example"}) == ["websocket.close"]


async def test_a_token_in_the_websockets_address_does_not_count() -> None:
    scope = {"type": "websocket", "query_string": f"token={TOKEN}".encode(), "headers": [(b"host", HOST.encode())]}
    said: list[str] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        said.append(message["type"])

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    await Guard(Inner(), TOKEN, PORT)(scope, receive, send)
    assert said == ["websocket.close"]
