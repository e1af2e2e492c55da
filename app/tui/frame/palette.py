"""The command palette's entries: the commands that can be given on the screen, and the other screens."""

from collections.abc import Iterator
from functools import partial
from typing import cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from app.tui.frame.commands import give, keys_in_use, offered
from app.tui.frame.context import ContextApp


class CommandProvider(Provider):
    """Every command that the focused widget, its screen and the app offer now; those of the key line come first."""

    def _entries(self) -> Iterator[tuple[str, str, partial[None]]]:
        chosen = cast("ContextApp", self.app).chosen_keys
        for offer in sorted(offered(self.screen), key=lambda one: not one.command.footer):
            keys = keys_in_use(self.app, offer.command, chosen)
            run = partial(give, self.app, offer)
            yield f"{offer.command.name} ({keys})", offer.command.help, run

    async def discover(self) -> Hits:
        """Every command, as long as nothing is typed."""
        for name, text, run in self._entries():
            yield DiscoveryHit(name, run, help=text)

    async def search(self, query: str) -> Hits:
        """Those whose name matches what is typed."""
        matcher = self.matcher(query)
        for name, text, run in self._entries():
            score = matcher.match(name)
            if score > 0:
                yield Hit(score, matcher.highlight(name), run, help=text)
