"""Configurations to audit: bad advice as it is printed, and healthy servers of many kinds.

Each bad one says where its lines are recommended; ``named`` are the settings that an audit must name, by the word of
the line where only one of several is meant.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class BadAdvice:
    """Lines that somebody recommends, and what an audit must say of them."""

    source: str
    text: str
    named: tuple[str, ...]
    first: tuple[str, ...] = ()
    """What must come first, in any order."""


REDPAPER = BadAdvice(
    source="IBM Redpaper, Linux on zSeries: Samba-3 Performance Observations (2004), appendix A",
    text="""
[global]
    workgroup = TESTGROUP
    security = PUBLIC
    log level = 0
    socket options = SO_KEEPALIVE IPTOS_LOWDELAY TCP_NODELAY SO_SNDBUF=14596 SO_RCVBUF=14596
    max xmit = 65536
    veto files = /*.eml/*.nws/riched20.dll/*.**/
[share]
    path = /srv/share
    read only = no
""",
    named=(
        "security", "socket options … SO_SNDBUF=14596", "socket options … SO_RCVBUF=14596",
        "socket options … SO_KEEPALIVE", "socket options … IPTOS_LOWDELAY", "socket options … TCP_NODELAY",
        "max xmit", "veto files", "log level",
    ),
    first=("socket options … SO_SNDBUF=14596", "socket options … SO_RCVBUF=14596"),
)  # fmt: skip
BOOK = BadAdvice(
    source="Using Samba, appendix B (1999), the recommended smb.conf",
    text="""
[global]
    log level = 1 # Default is 0
    socket options = TCP_NODELAY IPTOS_LOWDELAY
    read raw = yes # Default
    write raw = yes # Default
    oplocks = yes # Default
    max xmit = 65535 # Default
    dead time = 15 # Default is 0
    getwd cache = yes
    lpq cache = 30
[okplace]
    veto oplock files = /this/that/theother/
[badplace]
    oplocks = no
""",
    named=(
        "log level", "socket options … TCP_NODELAY", "socket options … IPTOS_LOWDELAY", "read raw", "write raw",
        "oplocks", "max xmit", "dead time", "getwd cache", "lpq cache",
    ),
)  # fmt: skip
SPEED_TXT = BadAdvice(
    source="Speed.txt, Andrew Tridgell (1995)",
    text="""
[global]
    socket options = TCP_NODELAY SO_SNDBUF=4096 SO_RCVBUF=4096 IPTOS_THROUGHPUT
    read size = 16384
    max xmit = 2048
    read raw = no
    write raw = no
    read prediction = yes
    share modes = no
    strict locking = no
    protocol = COREPLUS
    password level = 0
    use mmap = yes
    getwd cache = yes
    wide links = yes
    log level = 3
""",
    named=(
        "socket options … SO_SNDBUF=4096", "socket options … SO_RCVBUF=4096", "socket options … IPTOS_THROUGHPUT",
        "read size", "read prediction", "share modes", "strict locking", "protocol", "password level", "log level",
    ),
    first=("socket options … SO_SNDBUF=4096", "socket options … SO_RCVBUF=4096"),
)  # fmt: skip
GUIDES = (
    BadAdvice(
        source="the usual 'make Samba fast' post of Linux forums: fixed buffers, raw modes, no locking",
        text="""
[global]
    socket options = TCP_NODELAY IPTOS_LOWDELAY SO_RCVBUF=131072 SO_SNDBUF=131072
    read raw = yes
    write raw = yes
    max xmit = 65535
    use sendfile = true
    getwd cache = true
    strict locking = no
    dead time = 30
""",
        named=(
            "socket options … SO_RCVBUF=131072", "socket options … SO_SNDBUF=131072", "read raw", "write raw",
            "max xmit", "use sendfile", "getwd cache", "strict locking",
        ),
        first=("socket options … SO_RCVBUF=131072", "socket options … SO_SNDBUF=131072"),
    ),
    BadAdvice(
        source="NAS vendors' forums: asynchronous I/O sizes and a write cache",
        text="""
[global]
    socket options = TCP_NODELAY IPTOS_LOWDELAY SO_RCVBUF=65536 SO_SNDBUF=65536
    aio read size = 16384
    aio write size = 16384
    aio write behind = true
    write cache size = 2097152
    min receivefile size = 16384
    large readwrite = yes
    strict sync = no
    sync always = no
""",
        named=(
            "socket options … SO_RCVBUF=65536", "socket options … SO_SNDBUF=65536", "aio read size",
            "aio write size", "aio write behind", "write cache size", "large readwrite", "strict sync",
            "sync always",
        ),
        first=("socket options … SO_RCVBUF=65536", "socket options … SO_SNDBUF=65536"),
    ),
    BadAdvice(
        source="wikis of small boards and routers: small buffers, SMB1, no signing, everything writable",
        text="""
[global]
    server min protocol = NT1
    server signing = disabled
    socket options = TCP_NODELAY SO_RCVBUF=8192 SO_SNDBUF=8192 TCP_QUICKACK
    smb2 max read = 65536
    smb2 max write = 65536
    smb2 max credits = 16
    encrypt passwords = yes
[data]
    path = /mnt/usb
    create mask = 0777
    directory mask = 0777
    force user = root
    read only = no
""",
        named=(
            "server min protocol", "socket options … SO_RCVBUF=8192",
            "socket options … SO_SNDBUF=8192", "socket options … TCP_QUICKACK", "smb2 max read", "smb2 max write",
            "smb2 max credits", "encrypt passwords", "create mask", "directory mask", "force user",
        ),
        first=("socket options … SO_RCVBUF=8192", "socket options … SO_SNDBUF=8192"),
    ),
    BadAdvice(
        source="blogs on 10 Gbit/s: large fixed buffers, leases and locking off",
        text="""
[global]
    socket options = TCP_NODELAY SO_RCVBUF=524288 SO_SNDBUF=524288
    smb2 leases = no
    oplocks = no
    level2 oplocks = no
    kernel oplocks = yes
    locking = no
    strict allocate = yes
    allocation roundup size = 1048576
    read size = 65536
    max open files = 4096
[video]
    path = /srv/video
    vfs objects = readahead
    read only = no
""",
        named=(
            "socket options … SO_RCVBUF=524288", "socket options … SO_SNDBUF=524288", "oplocks", "level2 oplocks",
            "kernel oplocks", "locking", "strict allocate", "allocation roundup size", "read size",
            "max open files", "vfs objects … readahead",
        ),
    ),
    BadAdvice(
        source="answers to 'opening folders is slow': names, logs and look-ups",
        text="""
[global]
    log level = 10
    max log size = 0
    hostname lookups = yes
    stat cache = no
    getwd cache = no
    use mmap = no
    wide links = yes
    O_SNDBUF = 8192
    socket options = TCP_NODELAY O_SNDBUF=8192
[data]
    path = /srv/data
    hide unreadable = yes
    fake oplocks = yes
    read only = no
    log level = 1
""",
        named=(
            "log level", "max log size", "hostname lookups", "stat cache", "getwd cache", "use mmap", "wide links",
            "socket options … O_SNDBUF=8192", "hide unreadable", "fake oplocks", "O_SNDBUF",
        ),
    ),
)  # fmt: skip
BAD = (REDPAPER, BOOK, SPEED_TXT, *GUIDES)

HEALTHY: dict[str, str] = {
    "Debian": """
[global]
    workgroup = WORKGROUP
    log file = /var/log/samba/log.%m
    max log size = 1000
    logging = file
    panic action = /usr/share/samba/panic-action %d
    server role = standalone server
    obey pam restrictions = yes
    unix password sync = yes
    passwd program = /usr/bin/passwd %u
    passwd chat = *Enter\\snew\\s*\\spassword:* %n\\n *Retype\\snew\\s*\\spassword:* %n\\n .
    pam password change = yes
    map to guest = bad user
    usershare allow guests = yes
[homes]
    comment = Home Directories
    browseable = no
    read only = yes
    create mask = 0700
    directory mask = 0700
    valid users = %S
[printers]
    comment = All Printers
    browseable = no
    path = /var/tmp
    printable = yes
    guest ok = no
    read only = yes
    create mask = 0700
[print$]
    comment = Printer Drivers
    path = /var/lib/samba/printers
    browseable = yes
    read only = yes
    guest ok = no
""",
    "Ubuntu": """
[global]
    workgroup = WORKGROUP
    server string = %h server (Samba, Ubuntu)
    log file = /var/log/samba/log.%m
    max log size = 1000
    logging = file
    panic action = /usr/share/samba/panic-action %d
    server role = standalone server
    obey pam restrictions = yes
    unix password sync = yes
    pam password change = yes
    map to guest = bad user
    usershare allow guests = yes
[sambashare]
    comment = Samba on Ubuntu
    path = /home/username/sambashare
    read only = no
    browsable = yes
""",
    "RHEL": """
[global]
    workgroup = SAMBA
    security = user
    passdb backend = tdbsam
    printing = cups
    printcap name = cups
    load printers = yes
    cups options = raw
    include = /etc/samba/usershares.conf
[homes]
    comment = Home Directories
    valid users = %S, %D%w%S
    browseable = No
    read only = No
    inherit acls = Yes
[printers]
    comment = All Printers
    path = /var/tmp
    printable = Yes
    create mask = 0600
    browseable = No
[print$]
    comment = Printer Drivers
    path = /var/lib/samba/drivers
    write list = @printadmin root
    force group = @printadmin
    create mask = 0664
    directory mask = 0775
""",
    "SUSE": """
[global]
    workgroup = WORKGROUP
    passdb backend = tdbsam
    map to guest = Bad User
    logon path = \\\\%L\\profiles\\.msprofile
    logon home = \\\\%L\\%U\\.9xprofile
    logon drive = P:
    usershare allow guests = Yes
[homes]
    comment = Home Directories
    valid users = %S, %D%w%S
    browseable = No
    read only = No
    inherit acls = Yes
[users]
    comment = All users
    path = /home
    read only = No
    inherit acls = Yes
    veto files = /aquota.user/groups/shares/
""",
    "Alpine": """
[global]
    workgroup = MYGROUP
    server string = Samba Server
    server role = standalone server
    log file = /usr/samba/var/log.%m
    max log size = 50
    dns proxy = no
[homes]
    comment = Home Directories
    browseable = no
    writable = yes
""",
    "FreeBSD": """
[global]
    workgroup = MYGROUP
    server string = Samba Server Version %v
    netbios name = ExampleMachine
    wins support = Yes
    security = user
    passdb backend = tdbsam
[src]
    path = /usr/src
    valid users = myuser
    writable = no
    browsable = yes
    read only = yes
    guest ok = no
    public = no
    create mask = 0666
    directory mask = 0755
""",
    "standalone": """
[global]
    workgroup = OFFICE
    server role = standalone server
    server min protocol = SMB3_00
[data]
    path = /srv/data
    read only = no
    valid users = @staff
    force group = staff
    create mask = 0660
    directory mask = 2770
""",
    "domain member": """
[global]
    workgroup = SAMDOM
    security = ADS
    realm = SAMDOM.EXAMPLE.COM
    winbind refresh tickets = Yes
    vfs objects = acl_xattr
    map acl inherit = Yes
    dedicated keytab file = /etc/krb5.keytab
    kerberos method = secrets and keytab
    winbind use default domain = yes
    idmap config * : backend = tdb
    idmap config * : range = 3000-7999
    idmap config SAMDOM : backend = rid
    idmap config SAMDOM : range = 10000-999999
    template shell = /bin/bash
    template homedir = /home/%U
[projects]
    path = /srv/projects
    read only = no
""",
    "AD DC": """
[global]
    netbios name = DC1
    realm = SAMDOM.EXAMPLE.COM
    server role = active directory domain controller
    workgroup = SAMDOM
    dns forwarder = 10.99.0.1
    idmap_ldb:use rfc2307 = yes
[netlogon]
    path = /usr/local/samba/var/locks/sysvol/samdom.example.com/scripts
    read only = No
[sysvol]
    path = /usr/local/samba/var/locks/sysvol
    read only = No
""",
    "CTDB cluster": """
[global]
    clustering = yes
    netbios name = CLUSTER
    include = registry
    ctdbd socket = /run/ctdb/ctdbd.socket
    security = user
[data]
    path = /gluster/data
    vfs objects = glusterfs
    glusterfs:volume = data
    kernel share modes = no
    posix locking = no
    read only = no
""",
    "printer server": """
[global]
    workgroup = OFFICE
    printing = cups
    rpc_server:spoolss = external
    rpc_daemon:spoolssd = fork
    spoolss: architecture = Windows x64
    lpq cache time = 60
[printers]
    path = /var/spool/samba
    printable = yes
    guest ok = yes
[print$]
    path = /var/lib/samba/printers
    write list = @printadmin
""",
    "Time Machine": """
[global]
    workgroup = HOME
    min protocol = SMB2
    vfs objects = catia fruit streams_xattr
    fruit:metadata = stream
    fruit:model = MacSamba
    fruit:posix_rename = yes
    fruit:veto_appledouble = no
    fruit:nfs_aces = no
    fruit:wipe_intentionally_left_blank_rfork = yes
    fruit:delete_empty_adfiles = yes
[backup]
    path = /srv/timemachine
    valid users = alice
    writable = yes
    durable handles = yes
    kernel oplocks = no
    kernel share modes = no
    posix locking = no
    fruit:time machine = yes
    fruit:time machine max size = 500G
""",
    "macOS office": """
[global]
    workgroup = OFFICE
    vfs objects = catia fruit streams_xattr
    fruit:metadata = stream
    fruit:encoding = native
    readdir_attr:aapl_rsize = no
    readdir_attr:aapl_finder_info = no
    readdir_attr:aapl_max_access = no
[media]
    path = /srv/media
    read only = no
    veto files = /._*/.DS_Store/
    delete veto files = yes
""",
    "read-only mirror": """
[global]
    server role = standalone server
    map to guest = Bad User
    guest account = nobody
[mirror]
    path = /srv/mirror
    guest ok = yes
    read only = yes
    fake oplocks = yes
""",
    "home directories": """
[global]
    security = user
    workgroup = CAMPUS
[homes]
    browseable = no
    read only = no
    create mask = 0600
    directory mask = 0700
    valid users = %S
""",
    "snapshots on btrfs": """
[global]
    workgroup = OFFICE
[data]
    path = /srv/data
    vfs objects = btrfs shadow_copy2
    shadow:snapdir = .snapshots
    shadow:sort = desc
    shadow:format = @GMT-%Y.%m.%d-%H.%M.%S
    read only = no
""",
    "recycle bin": """
[global]
    workgroup = OFFICE
[data]
    path = /srv/data
    vfs objects = recycle
    recycle:repository = .recycle/%U
    recycle:keeptree = yes
    recycle:versions = yes
    read only = no
""",
    "encrypted share": """
[global]
    workgroup = OFFICE
    server signing = mandatory
[secret]
    path = /srv/secret
    valid users = @board
    read only = no
""",
    "database share": """
[global]
    workgroup = OFFICE
[db]
    path = /srv/db
    veto oplock files = /*.mdb/*.MDB/*.dbf/*.DBF/
    read only = no
[docs]
    path = /srv/docs
    read only = no
""",
    "tuned on purpose": """
[global]
    workgroup = STUDIO
    aio read size = 0
    use sendfile = yes
    min receivefile size = 16384
    server multi channel support = yes
[video]
    path = /srv/video
    read only = no
    strict sync = yes
    case sensitive = yes
    preserve case = yes
    short preserve case = yes
""",
    "usershares with registry": """
[global]
    workgroup = OFFICE
    registry shares = yes
    log level = 1
    max log size = 5000
    deadtime = 10080
    hosts allow = 192.168.0. 127.
    load printers = no
    printcap name = /dev/null
    disable spoolss = yes
""",
}
