"""All facts of one measurement's surroundings, taken before it, and what its link counted by the end."""

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
    """Facts of client, server and path, by name; the names are those of the modules that read them."""

    client: Mapping[str, FactValue] = field(default_factory=dict)
    server: Mapping[str, FactValue] = field(default_factory=dict)
    path: Mapping[str, FactValue] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    """What could not be found out: a line each, that ends in what to do. None of them fails a measurement."""
    link: Link | None = None
    """The link to the target; absent for a local path and where no way leads there."""
    counters: LinkCounters | None = None
    """The link's counters when the facts were taken."""
    asked: ServerFacts = field(default_factory=ServerFacts)
    """The server's answer, to be asked again by."""

    def parts(self) -> dict[str, Facts]:
        """The facts as a series keeps them: ``client``, ``server`` and ``path``, without those that are empty."""
        named = {"client": self.client, "server": self.server, "path": self.path}
        return {name: facts for name, facts in named.items() if facts}


def collect(
    target: Target, *, ssh: str | None = None, smb_conf: str | None = None, window_seconds: int = 1
) -> Environment:
    """The surroundings of a measurement of ``target``, to be called right before it; never raises.

    ``ssh``, ``smb_conf`` and ``window_seconds`` are those of :func:`app.environment.samba.server.server_facts`.
    """
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
    """Who measures and where, as the settings file says: ``measured.by``, ``measured.ticket``, ``measured.site``."""
    try:
        who = config().who
    except ConfigError:  # told where the program starts; a measurement does not fail by it
        return {}
    said = (("by", who.name), ("ticket", who.ticket), ("site", who.site))
    return {f"measured.{name}": text for name, text in said if text}


def with_counters(before: Environment) -> Environment:
    """The same surroundings at the end of the measurement, with what link and server counted in between."""
    path = dict(before.path)
    if before.counters is not None:
        path |= counter_facts(before.counters, LinkCounters.snapshot(before.counters.interface))
    return replace(before, path=path, server={**before.server, **counters_since(before.asked)})
