"""What the command palette finds: commands, entries of the catalogue, and recordings by their words."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from app.tui.frame import commands

if TYPE_CHECKING:
    from app.tui.frame.context import ContextApp

_SCORE_OF_A_HELP_TEXT = 0.01
"""Below each match of a name."""
_RANK_OF_A_NAMED_ENTRY = 0.9
_RANK_OF_RECORDINGS = 0.7
_RANK_OF_A_MENTIONED_ENTRY = 0.5

_LEAST_LETTERS = 3
"""Letters that settings are found by: fewer stand in most names."""


class PaletteLine(NamedTuple):
    name: str
    help: str
    run: "partial[bool]"


class CommandProvider(Provider):
    @property
    def _context_app(self) -> "ContextApp":
        return cast("ContextApp", self.app)

    def _palette_lines(self) -> Iterator[PaletteLine]:
        offers = list(commands.offered(self.screen))
        shown_first = [offer for offer in offers if not offer.command.hidden]
        shown_last = [offer for offer in offers if offer.command.hidden]

        for offer in shown_first + shown_last:
            command = offer.command
            keys = commands.keys_in_use(self.app, command, self._context_app.chosen_keys)
            run = partial(self.app.call_later, self.app.run_action, command.action, offer.node)
            yield PaletteLine(f"{command.name} ({keys})", command.help, run)

    async def discover(self) -> Hits:
        for line in self._palette_lines():
            yield DiscoveryHit(line.name, line.run, help=line.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for line in self._palette_lines():
            score = matcher.match(line.name)
            if not score and query.casefold() in line.help.casefold():
                score = _SCORE_OF_A_HELP_TEXT
            if score > 0:
                yield Hit(score, matcher.highlight(line.name), line.run, help=line.help)

        if len(query) < _LEAST_LETTERS or self.screen.is_modal:
            return

        for hit in self._entries_of_the_catalogue(query):
            yield hit
        yield self._recordings(query)

    def _entries_of_the_catalogue(self, query: str) -> Iterator[Hit]:
        from forms.tuning import catalogue

        words = query.casefold().split()
        series_id = getattr(self.screen, "shown_series", "")

        for entry in catalogue.search(query):
            is_named = all(word in entry.name.casefold() for word in words)
            rank = _RANK_OF_A_NAMED_ENTRY if is_named else _RANK_OF_A_MENTIONED_ENTRY
            visit = partial(self._context_app.visit, "entry", entry=entry.name, series_id=series_id)
            run = partial(self.app.call_later, visit)
            yield Hit(_SCORE_OF_A_HELP_TEXT * rank, f"{entry.name} (catalogue)", run, help=entry.expect)

    def _recordings(self, query: str) -> Hit:
        words = query.replace("[", r"\[")  # Textual reads markup
        return Hit(
            _SCORE_OF_A_HELP_TEXT * _RANK_OF_RECORDINGS,
            f'Recordings with "{words}"',
            partial(self.app.call_later, self._context_app.filter_notebook, query),
            help="The notebook, filtered by these words.",
        )
