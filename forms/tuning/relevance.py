"""Which entries of the catalogue can matter to what a series measured: a rule for each, from what is known of it."""

from collections.abc import Callable, Iterator, Mapping

from forms.tuning.catalogue import CatalogueEntry, EntryKind, Status, entries
from storage.records import Command, Series


def _signed(series: Series) -> bool:
    return series.client.signing not in {None, "none"}


def _encrypted(series: Series) -> bool:
    return series.client.encryption not in {None, "none"}


def _plain_get(series: Series) -> bool:
    return series.command is Command.GET and not _signed(series) and not _encrypted(series)


def _plain_put(series: Series) -> bool:
    return series.command is Command.PUT and not _signed(series) and not _encrypted(series)


_RULES: Mapping[str, Callable[[Series], bool]] = {
    "server signing": lambda series: _signed(series) and not _encrypted(series),
    "server smb encrypt": _encrypted,
    "server smb3 signing algorithms": _signed,
    "server smb3 encryption algorithms": _encrypted,
    "aio read size": lambda series: series.command is Command.GET,
    "aio write size": lambda series: series.command is Command.PUT,
    "strict sync": lambda series: series.command is Command.PUT,
    "strict allocate": lambda series: series.command is Command.PUT,
    "use sendfile": _plain_get,
    "min receivefile size": _plain_put,
    "case sensitive": lambda _series: False,
    "durable handles": lambda _series: False,
    "store dos attributes": lambda _series: False,
    "smb2 leases": lambda _series: False,
    "oplocks": lambda _series: False,
}
"""What is not here can always matter; what acts on many small files or on clients that cache does not on one stream."""


def relevant(series: Series) -> Iterator[CatalogueEntry]:
    """The settings of smb.conf that can matter to the series, the greatest effect first, each parameter once."""
    seen: set[str] = set()
    for entry in entries():
        usable = entry.kind is EntryKind.SMB_CONF and entry.status is Status.EXISTS and not entry.warning
        rule = _RULES.get(entry.name)
        if usable and entry.parameter not in seen and (rule is None or rule(series)):
            seen.add(entry.parameter)
            yield entry
