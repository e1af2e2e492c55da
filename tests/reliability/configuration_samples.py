"""A dozen plausible configurations of Samba 4.17, each with what is known to be wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

VERSION = "4.17.12"


@dataclass(frozen=True)
class Sample:
    """A configuration and its truth."""

    name: str
    text: str
    truth: frozenset[tuple[str, str, str]]
    """(section, parameter by its own name, key of the finding)."""


def _sample(name: str, text: str, *truth: tuple[str, str, str]) -> Sample:
    return Sample(name=name, text=text.lstrip("\n"), truth=frozenset(truth))


SAMPLES = (
    _sample(
        "plain office",
        """
[global]
    workgroup = OFFICE
    server string = Files of the office
    map to guest = Bad User
    logging = file
    log file = /var/log/samba/log.%m
    max log size = 1000
[team]
    comment = Team files
    path = /srv/team
    read only = no
    valid users = @team
[scans]
    path = /srv/scans
    guest ok = yes
    read only = no
""",
    ),
    _sample(
        "tuned by an old guide",
        """
[global]
    workgroup = OLD
    socket options = TCP_NODELAY SO_RCVBUF=8192 SO_SNDBUF=8192
    read raw = yes
    write raw = yes
    log level = 1
    strict sync = no
[data]
    path = /data
    writeable = yes
    oplocks = no
""",
        ("global", "socket options", "pinned-send-buffer"),
        ("global", "socket options", "pinned-receive-buffer"),
        ("global", "socket options", "nodelay-is-default"),
        ("global", "read raw", "smb1-only"),
        ("global", "write raw", "smb1-only"),
        ("global", "strict sync", "no-strict-sync"),
        ("data", "oplocks", "no-oplocks"),
    ),
    _sample(
        "buffers with units",
        """
[global]
    socket options = SO_RCVBUF=128K SO_SNDBUF=128K
    deadtime = 30 minutes
    max open files = 20000
[media]
    path = /media
    read only = yes
""",
        ("global", "socket options", "pinned-send-buffer"),
        ("global", "socket options", "pinned-receive-buffer"),
        ("global", "deadtime", "cut-number"),
    ),
    _sample(
        "debugging forgotten",
        """
[global]
    log level = 1 auth:5 smb2:10
    max log size = 0
    server min protocol = SMB2_02
[home]
    path = /home/%S
    browseable = no
    read only = no
""",
        ("global", "log level", "log-level-high"),
        ("global", "max log size", "endless-log"),
    ),
    _sample(
        "audit of older days",
        """
[global]
    vfs objects = full_audit
    full_audit:prefix = %u|%I
    full_audit:success = mkdir rename unlink
    full_audit:failure = none
[records]
    path = /srv/records
    read only = no
""",
        ("global", "full_audit:success", "unknown-operation"),
    ),
    _sample(
        "bin that is not loaded",
        """
[global]
    vfs objects = recycle
    recycle:repository = .bin
[a]
    path = /srv/a
    read only = no
[b]
    path = /srv/b
    vfs objects = catia
    recycle:keeptree = yes
""",
        ("b", "recycle:keeptree", "option-without-module"),
        ("b", "vfs objects", "modules-left-out"),
    ),
    _sample(
        "misplaced and misspelled",
        """
[global]
    workgroup = LAB
    readonly = no
    hosts allow = 192.0.2. 127.
[tools]
    path = /srv/tools
    server signing = mandatory
    guest okay = yes
    strict locking = sometimes
""",
        ("tools", "server signing", "wrong-section"),
        ("tools", "guest okay", "unknown"),
        ("tools", "strict locking", "refused"),
    ),
    _sample(
        "comments behind values",
        """
[global]
    workgroup = SHOP
    guest account = visitor #nobody
[till]
    path = /srv/till ;the till
    guest ok = yes
    create mask = 0660
""",
        ("global", "guest account", "trailing-comment"),
        ("till", "path", "trailing-comment"),
    ),
    _sample(
        "patterns",
        """
[drop]
    path = /srv/drop
    read only = no
    veto files = *.exe, *.com
    veto oplock files = /*.mdb/*.accdb/
    dfree command = /opt/free
""",
        ("drop", "veto files", "wrong-separator"),
        ("drop", "dfree command", "dfree-command"),
    ),
    _sample(
        "share modes",
        """
[global]
    server multi channel support = yes
    interfaces = lo "eth0;speed=1000,capability=RSS"
[vm]
    path = /srv/vm
    read only = no
    kernel share modes = yes
    locking = no
""",
        ("global", "interfaces", "slow-interface"),
        ("vm", "kernel share modes", "kernel-share-modes"),
        ("vm", "locking", "no-locking"),
    ),
    _sample(
        "a share that copies another",
        """
[global]
    use sendfile = no
[base]
    path = /srv/base
    read only = no
    vfs objects = shadow_copy2
    shadow:snapdir = .snapshots
[copy]
    copy = base
    path = /srv/copy
    shadow:sort = desc
""",
    ),
    _sample(
        "small limits",
        """
[global]
    max smbd processes = 10
    smb2 max credits = 64
    smb2 max read = 65536
    getwd cache = no
[pub]
    path = /srv/pub
    guest ok = yes
""",
        ("global", "max smbd processes", "few-smbd-processes"),
        ("global", "smb2 max credits", "few-credits"),
        ("global", "smb2 max read", "small-requests"),
        ("global", "getwd cache", "no-getwd-cache"),
    ),
)
IGNORED_KEYS = frozenset({"default"})
"""Whether a line is the default says nothing of how it was read."""
