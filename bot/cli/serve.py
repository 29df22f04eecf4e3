"""`labhand up`: the bots, the local chat page and the control loop in one process."""

import argparse
import asyncio
import contextlib
import logging
import signal
import webbrowser

from bot.app import App
from bot.bootstrap import House, build
from bot.settings import load_settings


def up(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM. A second one on the same home says who holds it."""
    settings = load_settings()
    house = build(settings)
    logging.basicConfig(
        filename=house.home.logs / "labhand.log",
        level=settings.log_level,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    with house.home.lock("labhand up"):
        asyncio.run(_serve(house, open_page=arguments.open))
    return 0


async def _serve(house: House, *, open_page: bool) -> None:
    from bot.web.surface import WebSurface
    from bot.webfeed import DatabaseFeed

    web = WebSurface(
        DatabaseFeed(house.lab),
        port=house.settings.web_port,
        token=house.home.read_token(),
        user=house.settings.user,
        images_root=house.home.images,
    )
    app = App(house, [web])
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stop.set)
    async with app.running():
        print(f"Labhand is up. Chat page: {web.url}", flush=True)
        print(f"Home: {house.home.root}. Stop with Ctrl-C; running jobs go on and are found again.", flush=True)
        if open_page:
            with contextlib.suppress(webbrowser.Error):
                webbrowser.open(web.url)
        await stop.wait()
        print("Stopping; running jobs go on.", flush=True)
