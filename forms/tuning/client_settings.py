"""Settings that no smb.conf holds: those of the client and of the hosts, as a series itself shows them."""

from collections.abc import Iterable
from dataclasses import dataclass

from forms.tuning import catalogue
from forms.tuning.smb_conf import squeeze
from storage.records import Facts, FactValue, Series

_HOSTS = ("server", "client")
_SYSCTL_FACTS = {"net.ipv4.tcp_": "tcp.", "net.core.": "net.", "vm.": "vm."}
_FACTS = {
    "MTU": ("link.mtu_bytes",),
    "read_ahead_kb": ("disk.read_ahead_kb",),
    "I/O scheduler": ("disk.scheduler",),
    "file system and journal": ("filesystem.type", "filesystem.options"),
    "number of network cards": ("link.cards_up",),
}
_OF_CLIENT = {
    "block": ("client.block_bytes", "path.smb.put_block_bytes"),
    "in-flight": ("client.in_flight", "client.block_bytes", "path.smb.put_block_bytes"),
    "client": ("client.name", "client.version", "client.block_bytes", "client.in_flight"),
}
"""Settings of the client: where each is shown, and after that what follows from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSetting:
    """One such setting: how it is called, and where series may show it."""

    name: str
    places: tuple[str, ...] = ()
    """Differences that are this setting: ``client.block_bytes``, ``server.tcp.rmem``."""
    follows: tuple[str, ...] = ()
    """Differences that come with it."""
    mount_option: str | None = None
    """The option's name, where a mount has it."""

    def read(self, before: Series, after: Series) -> tuple[FactValue | None, FactValue | None]:
        """Its value in both series: from the first place in which they differ, else from the first that has it."""
        seen = [(self._value(before, place), self._value(after, place)) for place in self.places]
        changed = [pair for pair in seen if None not in pair and pair[0] != pair[1]]
        known = [pair for pair in seen if pair[1] is not None]
        return next(iter([*changed, *known]), (None, None))

    def _value(self, series: Series, place: str) -> FactValue | None:
        side, _, name = place.partition(".")
        if side == "client" and name in ("name", "version", "block_bytes", "in_flight"):
            value: FactValue | None = getattr(series.client, name)
            return value
        facts = series.environment.get(side, {})
        if name == "disk.read_ahead_kb":
            found = facts.get("disk.read_ahead_bytes")
            return found // 1024 if isinstance(found, int) else None
        return _of_options(facts, name, self.mount_option) if self.mount_option else facts.get(name)


def own_setting(name: str) -> OwnSetting | None:
    """The setting of that name or synonym; None for what belongs into smb.conf, or is not known at all."""
    entry = next(iter(catalogue.about(name)), None)
    if entry is None:
        key = _key(name)
        own = next((n for n in _OF_CLIENT if _key(n) == key), None)
        return _of_client(own) if own else None
    if entry.kind is catalogue.EntryKind.SMB_CONF:
        return None
    if entry.name in _OF_CLIENT:
        return _of_client(entry.name)
    if entry.kind is catalogue.EntryKind.MOUNT:
        places = tuple(_on_hosts(("filesystem.options",)))
        return OwnSetting(name=entry.name, places=places, mount_option=entry.parameter)
    facts = _FACTS.get(entry.name, tuple(_sysctl_fact(entry.name)))
    paths = tuple(f"path.{fact}" for fact in facts if fact.startswith("link."))
    follows = tuple(_on_hosts(("disk.read_ahead_bytes",))) if entry.name == "read_ahead_kb" else ()
    return OwnSetting(name=entry.name, places=(*_on_hosts(facts), *paths), follows=follows)


def _of_client(name: str) -> OwnSetting:
    place, *follows = _OF_CLIENT[name]
    return OwnSetting(name=name, places=(place,), follows=tuple(follows))


def _key(name: str) -> str:
    return squeeze(name).replace("-", "").replace("_", "")


def _on_hosts(facts: Iterable[str]) -> Iterable[str]:
    return [f"{host}.{fact}" for fact in facts for host in _HOSTS]


def _sysctl_fact(name: str) -> Iterable[str]:
    for prefix, short in _SYSCTL_FACTS.items():
        if name.startswith(prefix):
            yield short + name.removeprefix(prefix)


def _of_options(facts: Facts, name: str, option: str) -> FactValue | None:
    """The value of a mount option; its own name for one that stands alone, empty for one that is not there."""
    options = facts.get(name)
    if options is None:
        return None
    for word in str(options).split(","):
        key, _, value = word.partition("=")
        if key == option:
            return value or key
    return ""
