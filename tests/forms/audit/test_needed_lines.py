"""Lines that users need or that protect something: they are not called useless, and `--fix` leaves them."""

from __future__ import annotations

import pytest

from forms.audit.audited_server import AuditedServer
from forms.audit.judge import judge
from forms.audit.judgements import judgements
from forms.audit.remedies import proposed_diff
from forms.tuning.conf_file import read_conf
from storage.looks import AuditFinding, Ruling

CONF = "/etc/samba/smb.conf"


def findings(text: str) -> dict[str, AuditFinding]:
    conf = read_conf(CONF, {CONF: text})
    return {finding.key: finding for finding in judge(AuditedServer(conf=conf, path=CONF))}


def edits(text: str) -> list[str]:
    """The lines that `--fix` takes out or adds."""
    diff = proposed_diff(tuple(findings(text).values()), {CONF: text})
    changed = [line for line in diff.splitlines() if line[:1] in {"+", "-"}]
    return [f"{line[0]}{line[1:].strip()}" for line in changed if line[:3] not in {"+++", "---"}]


@pytest.mark.parametrize(
    "text",
    [
        # Wide links of any share, whichever way the two are written
        "[global]\nunix extensions = No\n[media]\npath = /m\nwide links = yes\n[docs]\npath = /d",
        "[global]\nsmb1 unix extensions = 0\nwide links = true\n[media]\npath = /m",
        "[global]\nUNIX EXTENSIONS=off\n[homes]\nwidelinks = yes",
        # Servers that speak SMB1
        "[global]\nmin protocol = CORE\nunix extensions = yes",
        "[global]\nserver min protocol = LANMAN1\nserver signing = off",
        "[global]\nmin protocol = NT1\nmax mux = 30",
        "[global]\nmin protocol = LANMAN2\nlarge readwrite = no",
        # What people see or wait for
        "[global]\ndeadtime = 5\n[a]\npath = /a",
        "[global]\ndead time = 1440",
        "[a]\npath = /a\nhide files = /Thumbs.db/.*/",
        "[a]\npath = /a\nhide dot files = no\nhide special files = yes",
        "[a]\npath = /a\nveto files = /*.exe/*.com/\ndelete veto files = yes",
        "[a]\npath = /a\nveto oplock files = /*.mdb/*.ldb/",
        # Audits that name their operations
        "[a]\npath = /a\nvfs objects = full_audit\nfull_audit:success = connect renameat unlinkat",
        "[a]\npath = /a\nvfs objects = acl_xattr full_audit\nfull_audit:failure = connect\nfull_audit:success = none",
        "[a]\npath = /a\nvfs objects = full_audit recycle\nfull_audit:success = mkdirat\nfull_audit:failure = none",
        # Threads that were given up for sendfile
        "[global]\naio read size = 0\nuse sendfile = yes",
        # A module that an option switches on
        "[a]\npath = /a\nvfs objects = aio_pthread\naio_pthread:aio open = yes",
        # The default, where [global] has something else
        "[global]\nwide links = yes\nunix extensions = no\n[safe]\npath = /s\nwide links = no",
        "[global]\noplocks = no\nveto oplock files = /*.db/\n[fast]\npath = /f\noplocks = yes",
    ],
)
def test_a_line_that_is_needed_is_not_called_useless(text: str):
    assert [finding for finding in findings(text).values() if finding.verdict is Ruling.USELESS] == []


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[global]\nunix extensions = no\n[a]\npath = /a\nwide links = no", "unix-extensions"),
        ("[global]\nserver signing = disabled\n[a]\npath = /a", "signing-off"),
        ("[global]\nmax mux = 50", "smb1-max-mux"),
        ("[global]\nlarge readwrite = yes\nserver min protocol = SMB2_10", "smb1-large-readwrite"),
        ("[a]\npath = /a\nvfs objects = aio_pthread", "aio-pthread-module"),
        ("[global]\nwide links = no\n[a]\npath = /a\nwide links = no", "wide-links-default"),
    ],
)
def test_a_line_that_does_nothing_for_any_client_is_useless(text: str, key: str):
    assert findings(text)[key].verdict is Ruling.USELESS


@pytest.mark.parametrize(
    "line",
    [
        # Audits
        "vfs objects = full_audit\n    full_audit:success = all",
        "vfs objects = recycle full_audit\n    full_audit:success = ALL\n    full_audit:failure = connect",
        # Who gets in, and how
        "hosts allow = 10.1.0.0/16 127.",
        "hosts deny = 0.0.0.0/0",
        "hostname lookups = yes\n    hosts allow = scanner.example.net",
        "valid users = @crew",
        "server signing = mandatory",
        "server signing = required\n    server smb3 signing algorithms = AES-128-CMAC",
        "smb encrypt = required",
        "server smb encrypt = mandatory",
        "restrict anonymous = 2",
        "server min protocol = SMB3_11",
        "server min protocol = NT1",
        "ntlm auth = ntlmv1-permitted",
        "log level = 1 auth_json_audit:5 dsdb_audit:5",
        # What smbd cannot read, or reads elsewhere, and protects nothing as it stands
        "server signing = mandatry",
        "read only = ja",
        "smb encrypt = must",
        "hosts allow = 10.\n    hosts allow = 192.0.2.",
        "vfs objects = full_audit\n    vfs objects = recycle",
        "vfs objects = scannedonly",
        "vfs objects = full_audti",
        # What users must not see
        "hide unreadable = yes",
        "hide unwriteable files = yes",
        "veto files = /.ssh/",
        # What keeps files whole
        "sync always = yes",
        "oplocks = no",
        "level2 oplocks = no",
        "kernel oplocks = yes",
        "strict locking = yes",
        "strict allocate = yes",
        "max smbd processes = 40",
        "persistent handles = yes\n    posix locking = no",
        "vfs objects = aio_ratelimit\n    aio_ratelimit:write_bw_limit = 20M",
        # Who acts as whom
        "force user = root",
        "admin users = @users",
        "create mask = 0777",
        "wide links = yes\n    allow insecure wide links = yes",
        "wide links = yes",
        "winbind enum users = yes",
        "smbd profiling level = on",
    ],
)
def test_the_proposed_edits_take_no_audit_protection_or_access_away(line: str):
    text = f"[global]\n    {line}\n[a]\n    path = /a\n    read only = no\n"
    taken = [edit for edit in edits(text) if edit.startswith("-")]
    # An algorithm for signing may be edited: the line that requires it stays.
    assert [edit for edit in taken if "algorithms" not in edit] == []


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        ("vfs objects = fruit full_audit", "vfs objects = fruit streams_xattr full_audit"),
        ("vfs objects = acl_xattr, catia, fruit, recycle", "vfs objects = acl_xattr catia fruit streams_xattr recycle"),
        ("vfs objects = full_audit readahead", "vfs objects = full_audit"),
        ("vfs objects = readahead aio_pthread recycle", "vfs objects = recycle"),
    ],
)
def test_the_proposed_list_of_modules_keeps_the_others(line: str, replacement: str):
    assert edits(f"[a]\n    path = /a\n    {line}\n") == [f"-{line}", f"+{replacement}"]


@pytest.mark.parametrize(
    "line", ["unix extensions = no", "max xmit = 16644", "server signing = disabled", "use sendfile = yes"]
)
def test_what_a_file_that_was_not_read_may_need_is_not_deleted(line: str):
    text = f"[global]\n{line}\ninclude = /etc/samba/%m.conf\n[a]\npath = /a\n"
    (finding,) = findings(text).values()
    assert (finding.verdict, finding.instead) == (Ruling.USELESS, None)
    assert edits(text) == []
    assert edits(text.replace("%m", "own")) == []
    without_include = text.replace("include = /etc/samba/%m.conf\n", "")
    assert edits(without_include) == [f"-{line}"]


@pytest.mark.parametrize(
    ("hosts", "is_needed"),
    [
        ("hosts allow = scanner.example.net", True),
        ("hosts deny = .example.org EXCEPT 10.0.0.0/8", True),
        ("[b]\npath = /b\nhosts allow = 10. printer", True),
        ("hosts allow = 10.0.0. 192.168.0.0/255.255.0.0, 127.0.0.1", False),
        ("hosts allow = fd00::/8 LOCAL", False),
        ("hosts deny = ALL EXCEPT @trusted", False),
        ("hosts allow =", False),
        ("", False),
    ],
)
def test_look_ups_of_names_are_needed_where_a_list_has_names(hosts: str, is_needed: bool):
    text = f"[global]\nhostname lookups = yes\n{hosts}\n[a]\npath = /a\n"
    assert ("hostname-lookups" in findings(text)) is not is_needed
    assert ("-hostname lookups = yes" in edits(text)) is not is_needed


@pytest.mark.parametrize(("file_system", "is_told"), [("ext4", False), ("xfs", False), ("zfs", True), ("", True)])
def test_strict_allocate_is_kept_where_the_file_system_is_fast_at_it(file_system: str, is_told: bool):
    conf = read_conf(CONF, {CONF: "[a]\npath = /a\nstrict allocate = yes"})
    server = AuditedServer(conf=conf, path=CONF, facts={"filesystem.type": file_system} if file_system else {})
    assert ("strict-allocate" in {finding.key for finding in judge(server)}) is is_told


@pytest.mark.parametrize(
    ("options", "logs_nothing"),
    [
        ("", True),
        ("full_audit:prefix = %u|%I", True),
        ("full_audit:success = none\nfull_audit:failure =", True),
        ("full_audit:failure = connect", False),
        ("full_audit:success = unlinkat\nfull_audit:failure = none", False),
        ("full_audit:success = all", False),
    ],
)
def test_an_audit_that_logs_nothing_is_told(options: str, logs_nothing: bool):
    text = f"[a]\npath = /a\nvfs objects = recycle full_audit\n{options}\n"
    found = findings(text)
    assert ("audit-of-nothing" in found) is logs_nothing
    assert not logs_nothing or found["audit-of-nothing"].instead is None


def test_a_lower_log_level_keeps_the_audits():
    line = "log level = 5 auth_audit:3 smb2:10 dsdb_json_audit:5"
    assert edits(f"[global]\n{line}\n") == [f"-{line}", "+log level = 1 auth_audit:3 dsdb_json_audit:5"]
    assert findings("[global]\nlog level = 2 auth_audit:5 kerberos:2") == {}


@pytest.mark.parametrize(
    ("level", "key"),
    [
        ("3 passdb:5 auth:5", "log-level-raised"),
        ("2 auth:10", "log-level-raised"),
        ("0 winbind:6 idmap:8", "log-level-raised"),
        ("1 auth:10 vfs:5", "log-level-high"),
        ("5 auth:1", "log-level-high"),
    ],
)
def test_classes_that_write_at_logins_alone_are_not_harmful(level: str, key: str):
    found = findings(f"[global]\nlog level = {level}\nmax log size = 0")
    assert found.keys() == {key, "endless-log"}
    kept = [word for word in level.split() if word.startswith(("auth", "passdb", "winbind", "idmap"))]
    assert found[key].instead == " ".join(["log level = 1", *kept])


@pytest.mark.parametrize(
    "line",
    [
        "name resolve order = hosts bcast",
        "name resolve order = lmhosts HOST",
        "name resolve order =",
        "map to guest = bad users",
        "server role = fileserver",
        "ntlm auth = ntlmv2",
        "mangled names = auto",
        "csc policy = off",
        "inherit owner = true",
        "ldap ssl = yes",
    ],
)
def test_a_word_that_smbd_refuses_stops_it(line: str):
    assert findings(f"[global]\n{line}\n[a]\npath = /a")["refused"].verdict is Ruling.HARMFUL


@pytest.mark.parametrize(
    "line",
    [
        "name resolve order = wins, host",
        "map to guest = BadUser",
        "map to guest = BAD PASSWORD",
        "server role = Standalone",
        "ntlm auth = mschapv2-and-ntlmv2-only",
        "mangled names = no",
        "kerberos method = secretsandkeytab",
        "inherit owner = windows and unix",
        "ldap ssl = start_tls",
        "default case = UPPER",
        "map readonly = perms",
    ],
)
def test_a_word_that_smbd_takes_is_not_refused(line: str):
    assert "refused" not in findings(f"[global]\n{line}\n[a]\npath = /a")


@pytest.mark.parametrize("name", ["security mask", "Display Charset", "printer admin", "announce version"])
def test_a_parameter_of_samba_3_is_told_as_removed(name: str):
    finding = findings(f"[global]\n{name} = 1")["removed"]
    assert finding.verdict is Ruling.USELESS
    assert "4.0" in finding.why


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("[global]\nvfs objects = full_audit\n[a]\npath = /a\nvfs objects = readahead\n",
         ["-vfs objects = readahead", "+vfs objects ="]),
        ("[global]\naio read size = 0\nuse sendfile = yes\n[a]\npath = /a\naio read size = 4096\n[b]\npath = /b\n",
         ["-aio read size = 4096", "+aio read size = 1"]),
        ("[global]\nstrict locking = yes\n[a]\npath = /a\nstrict locking = no\n",
         ["-strict locking = no", "+strict locking = Auto"]),
    ],
)  # fmt: skip
def test_a_share_that_loses_a_line_does_not_fall_back_to_what_global_sets(text: str, changed: list[str]):
    assert edits(text) == changed


@pytest.mark.parametrize(
    ("text", "key", "verdict"),
    [
        # Reads and writes of SMB are 8 MiB at most
        ("[global]\naio read size = 8388609", "aio-read-size-above-every-request", Ruling.CONTRADICTORY),
        ("[global]\naio write size = 1G", "aio-write-size-above-every-request", Ruling.CONTRADICTORY),
        ("[global]\naio read size = 8M", "large-aio-read-size", Ruling.WORTH_TRYING),
        ("[global]\naio write size = 65537", "large-aio-write-size", Ruling.WORTH_TRYING),
        ("[global]\naio write size = 65536", "odd-aio-write-size", Ruling.USELESS),
        ("[global]\nsmb2 max read = 16777216", "large-requests", Ruling.USELESS),
        ("[global]\nsmb2 max write = 8388609", "large-write-requests", Ruling.USELESS),
        # sendfile needs reads without threads, and bytes that nobody signs or encrypts
        ("[global]\nuse sendfile = yes", "sendfile-without-effect", Ruling.USELESS),
        ("[a]\npath = /a\nuse sendfile = yes\naio read size = 65536", "sendfile-without-effect", Ruling.USELESS),
        ("[global]\naio read size = 0\nuse sendfile = yes\nserver signing = required", "sendfile-with-signing",
         Ruling.USELESS),
        ("[a]\npath = /a\naio read size = 0\nuse sendfile = yes\nsmb encrypt = mandatory", "sendfile-with-encryption",
         Ruling.USELESS),
        ("[global]\nmin receivefile size = 1\nserver signing = force", "receivefile-with-signing", Ruling.USELESS),
        ("[global]\nmin receivefile size = 200000\nsmb encrypt = required", "receivefile-with-encryption",
         Ruling.USELESS),
        # strict sync switches sync always
        ("[a]\npath = /a\nstrict sync = no\nsync always = yes", "sync-always-without-effect", Ruling.CONTRADICTORY),
        ("[global]\nsync always = 1\nstrict sync = off", "sync-always-without-effect", Ruling.CONTRADICTORY),
        ("[global]\nsync always = yes", "sync-always", Ruling.WORTH_TRYING),
    ],
)  # fmt: skip
def test_what_another_parameter_switches_off_is_told(text: str, key: str, verdict: Ruling):
    assert findings(text)[key].verdict is verdict


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("[global]\naio read size = 16M\nuse sendfile = yes", {"sendfile-without-effect"}),
        ("[global]\naio read size = 0\nuse sendfile = yes", {"sendfile-without-effect", "no-aio-read"}),
        ("[global]\naio read size = 8388609", {"odd-aio-read-size", "large-aio-read-size"}),
        ("[global]\nsync always = yes\nstrict sync = no", {"sync-always"}),
        ("[global]\nmin receivefile size = 16384\nserver signing = auto", {"receivefile-with-signing"}),
        # One share that is encrypted leaves the others as they are.
        ("[global]\nmin receivefile size = 16384\n[a]\npath = /a\nsmb encrypt = required",
         {"receivefile-with-encryption"}),
        ("[global]\nmin receivefile size = 1M\nserver signing = mandatory", {"large-receivefile"}),
        ("[global]\nsmb2 leases = no\noplocks = no", {"no-leases"}),
        ("[global]\nfull_audit:success = all\n[a]\npath = /a", {"audit-of-everything"}),
        ("[a]\npath = /a\naio_ratelimit:read_bw_limit = 1M", {"read-rate-limit"}),
    ],
)  # fmt: skip
def test_what_does_not_hold_there_is_not_told(text: str, keys: set[str]):
    assert findings(text).keys() & keys == set()


@pytest.mark.parametrize(
    ("value", "key", "verdict"),
    [
        ("/*.tmp/", "write-behind", Ruling.HARMFUL),
        ("*.mov", "write-behind", Ruling.HARMFUL),
        ("/yes/scratch.bin/", "write-behind", Ruling.HARMFUL),
        ("yes", "write-behind-without-files", Ruling.USELESS),
        ("/1/", "write-behind-without-files", Ruling.USELESS),
        ("False", "write-behind-without-files", Ruling.USELESS),
        ("*.mov, *.mxf", "write-behind-without-files", Ruling.USELESS),
    ],
)
def test_write_behind_is_a_list_of_files(value: str, key: str, verdict: Ruling):
    (finding,) = findings(f"[a]\npath = /a\naio write behind = {value}").values()
    assert (finding.key, finding.verdict, finding.instead) == (key, verdict, "")


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("guest account = root", "root-guest"),
        ("guest account = ROOT", "root-guest"),
        ("force user = root", "root-share"),
        ("force group = +root", "root-group"),
        ("group = wheel", "root-group"),
        ("admin users = @users", "admin-users-everybody"),
        ("admin users = alice, nobody", "admin-users-everybody"),
        ('admin users = @"EXAMPLE\\Domain Users"', "admin-users-everybody"),
        ("admin users = %U", "admin-users-everybody"),
        ("admin users = root carol", "admin-users"),
        ('admin users = "@EXAMPLE\\Domain Admins"', "admin-users"),
        ("root preexec = /usr/local/sbin/mkhome %U", "root-command"),
        ("exec = /bin/true\nroot postexec = umount /mnt/cd", "root-command-afterwards"),
        ("wins support = yes\nwins hook = /usr/local/sbin/dns-update", "root-names-command"),
        ("username map script = /etc/samba/name.sh", "root-login-command"),
        ("create mask = 2777", "world-writable-files"),
        ("create mode = 666", "world-writable-files"),
        ("force create mode = 0002", "world-writable-forced"),
        ("directory mask = 1777", "world-writable-folders"),
        ("force directory mode = 2777", "world-writable-folders-forced"),
    ],
)
def test_roads_to_root_and_to_files_of_everybody_are_named(line: str, key: str):
    finding = findings(f"[global]\n{line}\n[a]\npath = /a\nread only = no")[key]
    assert finding.verdict is Ruling.RISKY
    assert finding.instead is None


@pytest.mark.parametrize(
    "line",
    [
        "guest account = nobody",
        "force user = media",
        "force group = staff",
        "admin users = root",
        "admin users =",
        "root preexec =",
        "create mask = 0775",
        "force create mode = 0660",
        "directory mask = 2770",
        "force directory mode = 0755",
    ],
)
def test_what_leads_nobody_to_root_is_not_named(line: str):
    found = findings(f"[global]\n{line}\n[a]\npath = /a\nread only = no").values()
    assert [finding.key for finding in found if finding.verdict is Ruling.RISKY] == []


def test_every_judgement_of_a_line_says_what_to_do():
    for judgement in judgements():
        remedies = [judgement.instead is not None, bool(judgement.advice), bool(judgement.added_word)]
        assert remedies.count(True) == 1, judgement.key


@pytest.mark.parametrize("copy_first", [True, False])
def test_a_default_that_holds_against_a_copied_share_is_not_useless(copy_first: bool):
    lines = ["copy = base", "sync always = no", "strict locking = auto"]
    share = "\n".join(lines if copy_first else reversed(lines))
    template = "[base]\npath = /a\nsync always = yes\n[b]\n"
    server = AuditedServer(conf=read_conf(CONF, {CONF: template + share}), path=CONF)
    useless = {(each.section, each.setting) for each in judge(server) if each.verdict is Ruling.USELESS}
    assert useless == {("b", "strict locking")}
