"""Collects all facts before a measurement, and the link's counters after it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.config import ConfigError, config
from app.environment.host.facts import client_facts
from app.environment.link.counters import LinkCounters, counter_facts
from app.environment.link.facts import Link, facts_of_link, find_link
from app.environment.samba.server import ServerFacts, counters_since, server_facts
from storage.records import Facts, FactValue, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Facts of client, server and path, by name."""

    client: Mapping[str, FactValue] = field(default_factory=dict)
    server: Mapping[str, FactValue] = field(default_factory=dict)
    path: Mapping[str, FactValue] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    """What could not be found out, with what to do. Never fails a measurement."""
    link: Link | None = None
    """Absent for a local path or without a route."""
    counters: LinkCounters | None = None
    asked: ServerFacts = field(default_factory=ServerFacts)

    def parts(self) -> dict[str, Facts]:
        """``client``, ``server`` and ``path``, without empty ones."""
        named = {"client": self.client, "server": self.server, "path": self.path}
        return {name: facts for name, facts in named.items() if facts}


def collect(
    target: Target, *, ssh: str | None = None, smb_conf: str | None = None, window_seconds: int = 1
) -> Environment:
    """Called right before a measurement; never raises. Options as in :func:`server_facts`."""
    server = server_facts(target, ssh, smb_conf, window_seconds)
    link = find_link(target.host, target.port) if target.host else None
    client = {**client_facts(), **measurer_facts()}
    return Environment(
        client=client,
        server=server.facts,
        path=facts_of_link(link, timestamps=client.get("tcp.timestamps") != 0) if link else {},
        problems=server.problems,
        asked=server,
        link=link,
        counters=LinkCounters.snapshot(link.interface) if link else None,
    )


def measurer_facts() -> dict[str, FactValue]:
    """``measured.by``, ``measured.ticket`` and ``measured.site`` from the settings file."""
    try:
        who = config().who
    except ConfigError:  # told where the program starts; a measurement does not fail by it
        return {}
    said = (("by", who.name), ("ticket", who.ticket), ("site", who.site))
    return {f"measured.{name}": text for name, text in said if text}


def with_counters(before: Environment) -> Environment:
    """With what link and server counted since ``before``."""
    path = dict(before.path)
    if before.counters is not None:
        path |= counter_facts(before.counters, LinkCounters.snapshot(before.counters.interface))
    return replace(before, path=path, server={**before.server, **counters_since(before.asked)})
