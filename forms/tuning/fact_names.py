"""Names of facts: dotted words, the unit last; ``smb.conf/share/strict sync`` is the value in effect there."""

from fnmatch import fnmatchcase

VOLATILE = (
    "profile.*",
    "*load*",
    "*uptime*",
    "*_before",
    "*_during",
    "*_after",
    "*_errors",
    "*packets*",
    "*.available_*",
    "*.free_*",
    "lookup.*",
    "*busy*",
    "cpu.mhz",
    "facts.*",
    "form.*",
    "*round_trip_seconds",
    "tcp.timestamps_used",
    "session.login_seconds",
    "ceiling.*",
    "measured.*",
    "server.sessions*",
    "smb.credits",
    "samba.smbd_running",
    "samba.running_log_level",
)

PARAMETER_PREFIX = "smb.conf/"

_NAMES = {
    "host.name": "measuring machine",
    "measured.by": "measured by",
    "measured.ticket": "ticket",
    "measured.site": "site",
    "form.contradictions": "contradictions on the paper form",
    "os": "operating system",
    "cpu.model": "CPU",
    "cpu.count": "CPUs",
    "cpu.usable": "CPUs this program may use",
    "cpu.governor": "CPU frequency governor",
    "cpu.driver": "CPU frequency driver",
    "cpu.aes": "AES instructions",
    "machine.model": "machine",
    "machine.virtual": "virtual machine",
    "memory_bytes": "memory",
    "swap_bytes": "swap",
    "memory.available_bytes": "memory available",
    "load.1min": "load average, 1 minute",
    "python.version": "Python",
    "tcp.rmem": "TCP receive buffers",
    "tcp.wmem": "TCP send buffers",
    "tcp.sack": "TCP selective acknowledgement",
    "tcp.ecn": "TCP explicit congestion notification",
    "tcp.mtu_probing": "TCP MTU probing",
    "tcp.moderate_rcvbuf": "TCP receive buffer autotuning",
    "net.default_qdisc": "queueing discipline of new links",
    "net.rmem_default": "first receive buffer of other sockets",
    "net.rmem_max": "largest receive buffer of a socket",
    "net.wmem_default": "first send buffer of other sockets",
    "net.wmem_max": "largest send buffer of a socket",
    "net.netdev_max_backlog": "packets that may wait for a CPU",
    "session.login_seconds": "login",
    "tree.files": "files in the tree",
    "tcp.round_trip_seconds": "round trip under load",
    "tcp.least_round_trip_seconds": "round trip",
    "request.least_round_trip_seconds": "round trip of an empty request",
    "mtu.path_bytes": "path MTU",
    "mtu.segment_bytes": "TCP segment size (MSS)",
    "card.firmware": "firmware of the network card",
    "card.driver_version": "version of the network card's driver",
    "storage.layers": "layers below the file system",
    "tcp.own_segments_sent_during": "segments sent by the transfers",
    "tcp.own_retransmitted_during": "segments retransmitted by the transfers",
    "tcp.own_segments_received_during": "segments received by the transfers",
    "tcp.own_out_of_order_during": "segments received after a gap",
    "link.interface": "interface",
    "link.kind": "kind of interface",
    "link.driver": "driver of the network card",
    "link.rate_bits_per_second": "rate of the link",
    "link.card_rate_bits_per_second": "rate of the network card",
    "link.fastest_rate_bits_per_second": "fastest rate of the network card",
    "link.duplex": "duplex",
    "link.mtu_bytes": "MTU",
    "link.tso": "TCP segmentation by the card (TSO)",
    "link.gso": "late segmentation (GSO)",
    "link.gro": "joining of received packets (GRO)",
    "link.shaper": "traffic shaper",
    "link.shaper_bits_per_second": "rate of the traffic shaper",
    "link.route": "way to the server",
    "link.ip_version": "IP version",
    "link.payload_ceiling_bits_per_second": "payload ceiling of the link",
    "smb.dialect_before": "SMB dialect of this server before",
    "smb.conf.path": "smb.conf",
    "smb.conf.state": "state of smb.conf",
    "smb.conf.warnings": "warnings about smb.conf",
    "smb.conf.writable_by_all": "smb.conf: every user may write to",
    "link.inward_interface": "interface that requests come in by",
    "link.cards_up": "network cards in use",
    "samba.version": "Samba version",
    "samba.build.smb1": "Samba built with SMB1",
    "samba.build.io_uring": "Samba built with io_uring",
    "samba.smbd_running": "processes of smbd",
    "server.sessions": "sessions on the server",
    "server.sessions.other_machines": "sessions of other machines on the server",
    "cpu.busy_percent_before": "CPU busy before the series",
    "cpu.busy_percent_during": "CPU busy during the series",
    "disk.rotational": "rotating disk",
    "samba.running_log_level": "log level of the running smbd",
}

_UNITS = ("_bits_per_second", "_bytes_per_second", "_bytes", "_seconds", "_percent")
_CAPITALS = {"tcp": "TCP", "cpu": "CPU", "mtu": "MTU", "smb": "SMB", "ip": "IP", "crc": "CRC", "rx": "received"}
_CAPITALS["tx"] = "sent"


def is_volatile(name: str) -> bool:
    """Whether a fact varies by itself; a parameter of smb.conf never does."""
    return not name.startswith(PARAMETER_PREFIX) and any(fnmatchcase(name, pattern) for pattern in VOLATILE)


def human_name(name: str) -> str:
    """A fact's name on a form: *duplex* for ``link.duplex``; parameters keep theirs."""
    if name.startswith(PARAMETER_PREFIX):
        _, scope, parameter = name.split("/", 2)
        return f"{parameter} (smb.conf)" if scope == "global" else f"{parameter} (smb.conf, this share)"
    if name in _NAMES:
        return _NAMES[name]
    for unit in _UNITS:
        name = name.removesuffix(unit)
    words = name.replace(".", " ").replace("_", " ").split()
    return " ".join(_CAPITALS.get(word, word) for word in words)
