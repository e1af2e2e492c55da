"""Collects the facts of all three sides of a measurement: this machine, the server, and the path between.

`collect` is called right before a measurement and never raises; `with_counters` after it, for what the counters grew
by. How a server is asked says `app.server.probe`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.base.config import ConfigError, config
from app.server import link_facts, network_counters
from app.server.host_facts import client_facts
from app.server.probe import ServerFacts, counters_since, server_facts
from storage.records import Facts, FactValue, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What was found out before a measurement: facts of three sides, and counters to compare with those after it."""

    client: Mapping[str, FactValue] = field(default_factory=dict)
    server: Mapping[str, FactValue] = field(default_factory=dict)
    path: Mapping[str, FactValue] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    """What could not be found out, with what to do. Never fails a measurement."""
    link: link_facts.Link | None = None
    """None for a local path, or where no route leads to the server."""
    counters: network_counters.LinkCounters | None = None
    """Of this machine's interface on the link."""
    server_facts: ServerFacts = field(default_factory=ServerFacts)

    def parts(self) -> dict[str, Facts]:
        """The facts by side, ``client``, ``server`` and ``path``, of those that have some."""
        parts = {"client": self.client, "server": self.server, "path": self.path}
        return {name: facts for name, facts in parts.items() if facts}


def collect(
    target: Target, *, ssh: str | None = None, smb_conf: str | None = None, window_seconds: int = 1
) -> Environment:
    """Called right before a measurement; never raises. The options are those of `server_facts`."""
    server = server_facts(target, ssh, smb_conf, window_seconds)
    link = link_facts.find_link(target.host, target.port) if target.host else None
    client = {**client_facts(), **measurer_facts()}

    return Environment(
        client=client,
        server=server.facts,
        path=link_facts.facts_of_link(link, timestamps=client.get("tcp.timestamps") != 0) if link else {},
        problems=server.problems,
        server_facts=server,
        link=link,
        counters=network_counters.LinkCounters.snapshot(link.interface) if link else None,
    )


def measurer_facts() -> dict[str, FactValue]:
    """Who measures, where and for which ticket, as the settings file says."""
    try:
        who = config().who
    except ConfigError:  # told where the program starts; a measurement does not fail by it
        return {}
    facts = {"measured.by": who.name, "measured.ticket": who.ticket, "measured.site": who.site}
    return {name: text for name, text in facts.items() if text}


def with_counters(before: Environment) -> Environment:
    """The facts, and what the counters grew by since they were collected."""
    path = dict(before.path)
    if before.counters is not None:
        counters_now = network_counters.LinkCounters.snapshot(before.counters.interface)
        path |= network_counters.counter_facts(before.counters, counters_now)
    return replace(before, path=path, server={**before.server, **counters_since(before.server_facts)})
