"""Completes a target that is typed, from what is known here: no server is asked for it.

The completion stands dimmed behind what was typed; the right arrow takes it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from textual.suggester import Suggester

from storage.records import Target, format_target

_BARE_SCHEME = "smb://"
"""May be left out where a target is typed."""


class TargetSuggester(Suggester):
    """Suggests the first of the places that begins with what was typed, whatever the case of its letters."""

    def __init__(self, places: Sequence[str] = ()) -> None:
        super().__init__(use_cache=False, case_sensitive=False)
        self.places = places
        """The likeliest first."""

    async def get_suggestion(self, value: str) -> str | None:
        """``value`` is what was typed, in small letters; nothing is suggested for a place that is whole."""
        beginning_so = [place for place in self.places if place.casefold().startswith(value)]
        is_whole = any(len(place) == len(value) for place in beginning_so)
        return None if is_whole else next(iter(beginning_so), None)


def known_places(names: Iterable[str], targets: Iterable[Target]) -> tuple[str, ...]:
    """The names of the settings file (``@nas``), and the targets, each in every way that it may be typed."""
    places = list(names)
    for target in targets:
        places += _spellings(target)
    return tuple(dict.fromkeys(places))


def _spellings(target: Target) -> Iterator[str]:
    """With and without folder, scheme and user; the shorter first, from which the longer follows."""
    folders = [replace(target, path="")] if target.share and target.path else []
    for place in (*folders, target):
        for login in (place, replace(place, user=None, domain=None)):
            url = format_target(login)
            yield url
            if url.startswith(_BARE_SCHEME):
                yield url.removeprefix(_BARE_SCHEME)
