"""Facts of the server: asked here when the target is this machine, through ssh when that is given, else unknown."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files

from app.environment.host.activity import parse_cpu
from app.environment.host.facts import HOST_FILES, host_facts
from app.environment.host.filesystem import filesystem_facts
from app.environment.host.procfs import storable, whole_number
from app.environment.link.route import find_route, is_this_machine
from app.environment.link.shaper import parse_shaper
from app.environment.samba.facts import SambaFacts, samba_facts
from app.environment.samba.server_counters import ServerCounters, busy_percent, server_counter_facts, server_counters
from app.server.shell import Answer, run_script
from storage.records import FactValue, Target

COUNTER_FILES = ("/proc/stat", "/proc/net/dev", "/proc/net/snmp")
DEFAULTS = {
    "only": "",
    "window": "0",
    "samba": "no",
    "conf": "",
    "share": "",
    "folder": "",
    "client": "",
    "server": "",
    "files": "",
    "counters": "\n".join(COUNTER_FILES),
}
"""The script's variables, as they are where nothing else is said."""
PROBE = files("app.environment").joinpath("probe.sh").read_text(encoding="utf-8")
"""The script that only reads."""


def ask_server(settings: Mapping[str, str], ssh: str | None) -> Answer:
    """Run the script with its variables set, here or by ssh. Never raises: a failure is an answer with a problem."""
    return run_script(PROBE, {**DEFAULTS, **settings}, ssh)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """Facts of the server by name, and what could not be found out: a line each, that ends in what to do."""

    facts: dict[str, FactValue] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    counters: ServerCounters | None = None
    """Of a server that is asked through ssh."""
    ssh: str | None = None
    answer: Answer | None = field(default=None, repr=False, compare=False)
    """All that the server said, for an audit."""


def server_facts(
    target: Target, ssh: str | None = None, smb_conf: str | None = None, window_seconds: int = 0
) -> ServerFacts:
    """What the server of a target says about itself; costs facts when it cannot, never raises.

    ``ssh`` is ``[USER@]HOST`` for the system's ssh; without it only a target on this machine is asked. ``smb_conf``
    is where the server keeps its configuration, if not where its smbd was built to look. ``window_seconds`` is how
    long to look at a distant server's CPUs first, for ``cpu.busy_percent_before``. The names are those of
    :func:`app.environment.host.facts.host_facts`, :mod:`app.environment.samba.facts`,
    :func:`app.environment.host.filesystem.filesystem_facts`, and ``link.*`` of the interface that answers this client.
    """
    protocol = target.abilities
    if protocol.is_local:
        return ServerFacts(facts=filesystem_facts(ask_server({"folder": target.path}, None)))
    if ssh is None and not is_this_machine(target.host):
        unused = f" ({smb_conf} was not read: it names a file on the server)" if smb_conf else ""
        what = f"the settings of {target.host} are unknown{unused}; name a way there by ssh, [USER@]{target.host}"
        return ServerFacts(problems=(what,))
    route = find_route(target.host, target.port)
    client = route.local_address if route else ""
    answer = ask_server(
        {
            "window": str(window_seconds if ssh else 0),
            "samba": "yes" if protocol.through_samba else "no",
            "conf": smb_conf or "",
            "share": target.share or "",
            "client": client,
            "server": route.address if route else "",
            "files": "\n".join(HOST_FILES),
        },
        ssh,
    )
    if answer.problem:
        return ServerFacts(problems=(answer.problem,))
    facts = machine_facts(answer)
    samba = samba_facts(answer, target.share, client) if protocol.through_samba else SambaFacts()
    port = target.port_number
    its_own = listens_on(samba.facts, port) and not samba.runs_with_another
    if protocol.through_samba and not (ssh or smb_conf or its_own):
        what = f"which smb.conf the server on port {port} of this machine has is unknown; name the file"
        samba = SambaFacts(problems=[what])
    facts.update(samba.facts)
    return ServerFacts(
        facts=storable(facts),
        problems=tuple(samba.problems),
        counters=server_counters(answer) if ssh else None,
        ssh=ssh,
        answer=answer,
    )


def machine_facts(answer: Answer) -> dict[str, FactValue]:
    """The facts in a server's answer that have nothing to do with what it serves."""
    facts: dict[str, FactValue] = {"os": (answer.text("uname") or "").strip() or "unknown"}
    facts |= {**host_facts(answer.file), **_network_facts(answer), **filesystem_facts(answer)}
    busy = busy_percent(parse_cpu(answer.text("stat.first")), parse_cpu(answer.text("stat.last")))
    if busy is not None:
        facts["cpu.busy_percent_before"] = busy
    return facts


def counters_since(before: ServerFacts) -> dict[str, FactValue]:
    """What a distant server counted since its facts were taken; empty where it cannot be asked again."""
    after = server_counters(ask_server({"only": "counters"}, before.ssh)) if before.counters else None
    if before.counters is None or after is None:
        return {}
    interface = before.facts.get("link.interface")
    return storable(server_counter_facts(before.counters, after, str(interface) if interface else None))


def listens_on(samba: Mapping[str, FactValue], port: int) -> bool:
    """Whether a Samba with these facts runs and serves a port: else the server there is another one."""
    ports = samba.get("smb.conf/global/smb ports")
    return bool(samba.get("samba.smbd_running")) and (ports is None or str(port) in re.split(r"[\s,:]+", str(ports)))


def _network_facts(answer: Answer) -> dict[str, FactValue]:
    """The interface that carries the server's answers, and whether the requests come in by another.

    ``link.interface`` (outward), ``link.inward_interface``, ``link.cards_up``, ``link.card_rate_bits_per_second``,
    ``link.duplex``, ``link.mtu_bytes``, ``link.driver``, ``card.firmware``, ``link.shaper``, ``link.errors_before``,
    ``link.drops_before``.
    """
    facts: dict[str, FactValue] = {}
    for name, section in (
        ("link.interface", "outward"),
        ("link.inward_interface", "inward"),
        ("link.driver", "nic:driver"),
        ("link.duplex", "nic:duplex"),
        ("card.firmware", "nic:firmware"),
    ):
        text = (answer.text(section) or "").strip()
        if text and text != "unknown":
            facts[name] = text
    if facts.get("link.interface") == "lo":
        facts["link.inward_interface"] = "lo"
    if "link.interface" not in facts:
        return facts
    facts["link.cards_up"] = len((answer.text("interfaces") or "").split())
    shaper = parse_shaper(answer.text("shaper"))
    facts["link.shaper"] = shaper.kind if shaper else "none"
    if shaper and shaper.bits_per_second:
        facts["link.shaper_bits_per_second"] = shaper.bits_per_second
    mtu, speed = _number(answer, "nic:mtu"), _number(answer, "nic:speed")
    if mtu:
        facts["link.mtu_bytes"] = mtu
    if speed and speed > 0 and "link.driver" in facts:
        facts["link.card_rate_bits_per_second"] = speed * 1_000_000
    for word in ("errors", "dropped"):
        counts = [_number(answer, f"nic:statistics/{way}_{word}") for way in ("rx", "tx")]
        facts[f"link.{'errors' if word == 'errors' else 'drops'}_before"] = sum(count or 0 for count in counts)
    return facts


def _number(answer: Answer, section: str) -> int | None:
    return whole_number((answer.text(section) or "").split())
