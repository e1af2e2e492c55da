"""The shares that servers have listed, kept in the notebook: a target is completed from them after a restart, too."""

from collections.abc import Iterable
from contextlib import suppress

from app.base.errors import UsageError
from app.base.targets import parse_target
from storage.notebook import Notebook
from storage.records import Target, format_target

_KEY = "listed shares"
_URLS = "urls"
_MOST_KEPT = 200
"""Of more the ones that were listed first are forgotten."""


def read_listed_shares(notebook: Notebook) -> tuple[Target, ...]:
    shares = []
    for url in _kept_urls(notebook):
        with suppress(UsageError):
            shares.append(parse_target(url))
    return tuple(shares)


def keep_listed_shares(notebook: Notebook, listed: Iterable[Target]) -> None:
    """Keep these beside those that were listed before; the newest stand at the end."""
    kept_urls = _kept_urls(notebook)
    urls = [*dict.fromkeys((*kept_urls, *map(format_target, listed)))][-_MOST_KEPT:]
    if urls != kept_urls:
        notebook.remember(_KEY, {_URLS: [*urls]})


def _kept_urls(notebook: Notebook) -> list[str]:
    urls = (notebook.remembered(_KEY) or {}).get(_URLS)
    return [str(url) for url in urls] if isinstance(urls, list) else []
