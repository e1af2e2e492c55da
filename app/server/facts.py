"""Collects the facts of all three sides of a measurement: the machine that measures, the server, and the path between.

`collect` is called right before a measurement and never raises; `with_counters` after it, for what the counters grew
by. How a server is asked says `app.server.probe`. Where another machine measures, `client_side` is called there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.base.config import ConfigError, config
from app.server import link_facts, network_counters
from app.server.host_facts import client_facts
from app.server.probe import MeasuringMachine, ServerFacts, counters_since, server_facts
from app.server.routes import find_route
from storage.records import MEASURED_FROM, Facts, FactValue, ReadFact, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSide:
    """What the machine that measures knows of itself and of its path to the server."""

    client: Mapping[str, ReadFact] = field(default_factory=dict)
    path: Mapping[str, ReadFact] = field(default_factory=dict)
    link: link_facts.Link | None = None
    """None for a local path, or where no route leads to the server."""
    counters: network_counters.LinkCounters | None = None
    """Of its interface on the link."""
    address: str = ""
    """Its own on the way to the server; empty where no way leads there."""


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
    """Of the interface on the link of the machine that measures."""
    server_facts: ServerFacts = field(default_factory=ServerFacts)

    def parts(self) -> dict[str, Facts]:
        """The facts by side, ``client``, ``server`` and ``path``, of those that have some."""
        parts = {"client": self.client, "server": self.server, "path": self.path}
        return {name: facts for name, facts in parts.items() if facts}


def collect(
    target: Target,
    *,
    ssh: str | None = None,
    smb_conf: str | None = None,
    window_seconds: int = 1,
    elsewhere: ClientSide | None = None,
    from_host: str | None = None,
) -> Environment:
    """Called right before a measurement; never raises. The options are those of `server_facts`.

    ``elsewhere`` and ``from_host``: what the machine that measures says of itself, and the way there by ssh, where that
    is not this one.
    """
    machine = None
    if elsewhere is not None and from_host is not None:
        is_server = elsewhere.link is not None and elsewhere.link.loopback
        machine = MeasuringMachine(ssh=from_host, address=elsewhere.address, is_server=is_server)
    server = server_facts(target, ssh, smb_conf, window_seconds, machine)
    side = elsewhere or client_side(target)
    return Environment(
        client=client_facts_of(side, from_host),
        server=server.facts,
        path=side.path,
        problems=server.problems,
        server_facts=server,
        link=side.link,
        counters=side.counters,
    )


def client_facts_of(side: ClientSide | None, from_host: str | None) -> dict[str, FactValue]:
    """The facts of the machine that measures; None for this one."""
    client = {**(side.client if side else client_facts()), **measurer_facts()}
    if from_host is not None:
        # Without the user of that login, who is nobody's business.
        client[MEASURED_FROM] = from_host.removeprefix("ssh://").rpartition("@")[2]
    return client


def client_side(target: Target) -> ClientSide:
    """This machine's side of a measurement of the target."""
    client = client_facts()
    link = link_facts.find_link(target.host, target.port) if target.host else None
    if link is None:
        return ClientSide(client=client)

    route = find_route(target.host, target.port)
    return ClientSide(
        client=client,
        path=link_facts.facts_of_link(link, timestamps=client.get("tcp.timestamps") != 0),
        link=link,
        counters=network_counters.LinkCounters.snapshot(link.interface),
        address=route.local_address if route else "",
    )


def measurer_facts() -> dict[str, FactValue]:
    """Who measures, where and for which ticket, as the settings file says."""
    try:
        who = config().who
    except ConfigError:  # told where the program starts; a measurement does not fail by it
        return {}
    facts = {"measured.by": who.name, "measured.ticket": who.ticket, "measured.site": who.site}
    return {name: text for name, text in facts.items() if text}


def with_counters(before: Environment, counters_now: network_counters.LinkCounters | None = None) -> Environment:
    """The facts, and what the counters grew by since they were collected.

    ``counters_now``: those of the interface on the link, where another machine measures.
    """
    path = dict(before.path)
    if before.counters is not None:
        counters_now = counters_now or network_counters.LinkCounters.snapshot(before.counters.interface)
        path |= network_counters.counter_facts(before.counters, counters_now)
    return replace(before, path=path, server={**before.server, **counters_since(before.server_facts)})
