"""Settings outside smb.conf (of the client, the kernel, a mount, a card), and where a series shows their values.

A *place* is a part of a series that has the value, named as its difference is: ``client.block_bytes``,
``server.tcp.rmem``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from forms.tuning import catalogue, smb_conf
from storage.records import Facts, FactValue, Series

_HOSTS = ("server", "client")
_SYSCTL_FACTS = {"net.ipv4.tcp_": "tcp.", "net.core.": "net.", "vm.": "vm."}
"""How names of the kernel's settings begin, and how those of their facts do."""
_FACTS = {
    "MTU": ("link.mtu_bytes",),
    "read_ahead_kb": ("disk.read_ahead_kb",),
    "I/O scheduler": ("disk.scheduler",),
    "file system and journal": ("filesystem.type", "filesystem.options"),
    "number of network cards": ("link.cards_up",),
    "version of Samba": ("samba.version",),
}
"""The facts that show an entry of the catalogue."""
_FLUSHED = "flushed"
_OF_CLIENT = {
    "block": ("client.block_bytes", "path.smb.put_block_bytes"),
    "in-flight": ("client.in_flight", "client.block_bytes", "path.smb.put_block_bytes"),
    "client encrypt": ("client.encryption", "settings.encrypt", "client.signing"),
    "client sign": ("client.signing", "settings.sign"),
    "flush": (_FLUSHED,),
    "client": ("client.name", "client.version", "client.block_bytes", "client.in_flight"),
}
"""Settings of the client: first the place that shows the setting, then those that change with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSetting:
    """A setting outside smb.conf, and where series show it."""

    name: str
    places: tuple[str, ...] = ()
    """Where its value may be seen."""
    follows: tuple[str, ...] = ()
    """Places that change with it."""
    mount_option: str | None = None
    """The option's name where the places have all options of a mount; None where they have the value itself."""

    def values_in(self, before: Series, after: Series) -> tuple[FactValue | None, FactValue | None]:
        """The values of the first place where they differ, or else of the first that the later series has."""
        pairs = [(self._value(before, place), self._value(after, place)) for place in self.places]
        for value_before, value_after in pairs:
            if value_before is not None and value_after is not None and value_before != value_after:
                return value_before, value_after
        for value_before, value_after in pairs:
            if value_after is not None:
                return value_before, value_after
        return None, None

    def _value(self, series: Series, place: str) -> FactValue | None:
        side, _, name = place.partition(".")
        if place == _FLUSHED:
            return "yes" if series.flushed else "no"
        if side == "client" and name in ("name", "version", "block_bytes", "in_flight"):
            value: FactValue | None = getattr(series.client, name)
            return value
        if side == "client" and name in ("encryption", "signing"):
            algorithm = getattr(series.client, name)
            return algorithm and ("no" if algorithm == "none" else "yes")

        facts = series.environment.get(side, {})
        if name == "disk.read_ahead_kb":
            size_bytes = facts.get("disk.read_ahead_bytes")
            return size_bytes // 1024 if isinstance(size_bytes, int) else None
        return _mount_option(facts, name, self.mount_option) if self.mount_option else facts.get(name)


def own_setting(name: str) -> OwnSetting | None:
    """The setting outside smb.conf of that name; None for a parameter of Samba, or an unknown name."""
    entry = next(iter(catalogue.about(name)), None)
    if entry is None:
        key = _key(name)
        of_client = [client_name for client_name in _OF_CLIENT if _key(client_name) == key]
        return _client_setting(of_client[0]) if of_client else None
    if entry.kind is catalogue.EntryKind.SMB_CONF:
        return None
    if entry.name in _OF_CLIENT:
        return _client_setting(entry.name)
    if entry.kind is catalogue.EntryKind.MOUNT:
        places = tuple(_on_hosts(("filesystem.options",)))
        return OwnSetting(name=entry.name, places=places, mount_option=entry.parameter)

    facts = _FACTS.get(entry.name, _sysctl_facts(entry.name))
    link_places = [f"path.{fact}" for fact in facts if fact.startswith("link.")]
    follows = _on_hosts(("disk.read_ahead_bytes",)) if entry.name == "read_ahead_kb" else []
    return OwnSetting(name=entry.name, places=(*_on_hosts(facts), *link_places), follows=tuple(follows))


def _sysctl_facts(name: str) -> tuple[str, ...]:
    return tuple(fact + name.removeprefix(prefix) for prefix, fact in _SYSCTL_FACTS.items() if name.startswith(prefix))


def _client_setting(name: str) -> OwnSetting:
    place, *follows = _OF_CLIENT[name]
    return OwnSetting(name=name, places=(place,), follows=tuple(follows))


def _key(name: str) -> str:
    return smb_conf.squeeze(name).replace("-", "").replace("_", "")


def _on_hosts(facts: Iterable[str]) -> list[str]:
    return [f"{host}.{fact}" for fact, host in product(facts, _HOSTS)]


def _mount_option(facts: Facts, name: str, option: str) -> FactValue | None:
    """An option's value, or its name where it has none; empty where it is not set, None where that is not known."""
    options = facts.get(name)
    if options is None:
        return None
    for word in str(options).split(","):
        key, _, value = word.partition("=")
        if key == option:
            return value or key
    return ""
