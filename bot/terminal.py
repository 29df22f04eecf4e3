"""The command line as a surface: cards are printed, or kept for `--json`."""

from collections.abc import Callable

from bot.surface import Receiver, SurfaceLimits
from lab.cards import Card


class TerminalSurface:
    """One conversation on a terminal. `show` gets every card, and whether it replaces an earlier one."""

    def __init__(self, show: Callable[[Card, bool], None]) -> None:
        self._show = show
        self._sent = 0
        self.cards: dict[str, Card] = {}

    @property
    def name(self) -> str:
        return "cli"

    @property
    def limits(self) -> SurfaceLimits:
        return SurfaceLimits()

    async def start(self, receive: Receiver) -> None:
        """Nothing comes in by itself: the command hands its words to `App.receive`."""

    async def send(self, thread: str, card: Card) -> str:
        self._sent += 1
        message_id = f"{thread}:{self._sent}"
        self.cards[message_id] = card
        self._show(card, False)
        return message_id

    async def edit(self, thread: str, message_id: str, card: Card) -> None:
        self.cards[message_id] = card
        self._show(card, True)

    async def working(self, thread: str, note: str) -> None:
        """A terminal shows no status."""

    async def close(self) -> None:
        """Nothing to close."""
