"""Which entries of the catalogue can matter to what a series measured: a rule for each, from what is known of it."""

from collections.abc import Callable, Iterator, Mapping

from forms.tuning.catalogue import CatalogueEntry, EntryKind, Status, about, entries
from storage.records import Command, Series


def _signed(series: Series) -> bool:
    return series.client.signing not in {None, "none"}


def _encrypted(series: Series) -> bool:
    return series.client.encryption not in {None, "none"}


def _plain(series: Series) -> bool:
    return not _signed(series) and not _encrypted(series)


_ACTS_ON = {
    "aio read size": Command.GET,
    "use sendfile": Command.GET,
    "aio write size": Command.PUT,
    "strict sync": Command.PUT,
    "sync always": Command.PUT,
    "strict allocate": Command.PUT,
    "min receivefile size": Command.PUT,
}
"""What one direction alone shows; all else acts on both."""
_RULES: Mapping[str, Callable[[Series], bool]] = {
    "server signing": lambda series: _signed(series) and not _encrypted(series),
    "server smb encrypt": _encrypted,
    "server smb3 signing algorithms": _signed,
    "server smb3 encryption algorithms": _encrypted,
    "use sendfile": _plain,
    "min receivefile size": _plain,
    "case sensitive": lambda _series: False,
    "durable handles": lambda _series: False,
    "store dos attributes": lambda _series: False,
    "smb2 leases": lambda _series: False,
    "oplocks": lambda _series: False,
}
"""What is not here can always matter; what acts on many small files or on clients that cache does not on one stream."""


def acts_on(name: str) -> Command | None:
    """The only command that a setting of that name acts on; None for one that acts on both, or is not known."""
    commands = {_ACTS_ON.get(entry.name) for entry in about(name)}
    return commands.pop() if len(commands) == 1 else None


def relevant(series: Series) -> Iterator[CatalogueEntry]:
    """The settings of smb.conf that can matter to the series, the greatest effect first, each parameter once."""
    seen: set[str] = set()
    for entry in entries():
        usable = entry.kind is EntryKind.SMB_CONF and entry.status is Status.EXISTS and not entry.warning
        rule = _RULES.get(entry.name)
        usable = usable and _ACTS_ON.get(entry.name, series.command) is series.command
        if usable and entry.parameter not in seen and (rule is None or rule(series)):
            seen.add(entry.parameter)
            yield entry
