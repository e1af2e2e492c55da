"""Lines that another one takes the effect from, or that together let in nobody, everybody or whom nobody meant: each
beside a configuration that differs in that alone.
"""

from __future__ import annotations

import pytest

from forms.audit.audited_server import AuditedServer
from forms.audit.judge import judge
from forms.audit.remedies import proposed_diff
from forms.tuning.conf_file import read_conf
from storage.looks import AuditFinding, Ruling

CONF = "smb.conf"
MEMBER = "security = ads\nrealm = EXAMPLE.NET\nworkgroup = EXAMPLE\n"
RANGES = "idmap config * : backend = tdb\nidmap config * : range = 3000-7999\nidmap config EXAMPLE : backend = rid\n"
FRUIT = "vfs objects = catia fruit streams_xattr\n"


def findings(of_global: str, of_share: str) -> tuple[AuditFinding, ...]:
    text = f"[global]\n{of_global}\n[data]\npath = /srv/data\nread only = no\n{of_share}\n"
    conf = read_conf(CONF, {CONF: text})
    return judge(AuditedServer(conf=conf, path=CONF, facts={"samba.version": "4.17.12"}))


def keys(of_global: str = "", of_share: str = "") -> set[str]:
    return {finding.key for finding in findings(of_global, of_share)}


@pytest.mark.parametrize(
    ("of_share", "key", "other"),
    [
        # What is new has the permissions of its folder, whatever the masks are.
        ("inherit permissions = yes\ncreate mask = 0777", "mask-unheeded", "create mask = 0777"),
        ("inherit permissions = yes\nforce directory mode = 0777", "mask-unheeded", "force directory mode = 0777"),
        ("create mask = 0777", "world-writable-files", "inherit permissions = yes\ncreate mask = 0777"),
        ("directory mask = 0777", "world-writable-folders", "inherit permissions = yes\ndirectory mask = 0777"),
        # A mask without the bits that the owner needs.
        ("directory mask = 0644", "mask-locks-out", "directory mask = 0700"),
        ("directory mask = 0644", "mask-locks-out", "directory mask = 0644\nforce directory mode = 0111"),
        ("create mask = 0022", "mask-locks-out", "create mask = 0600"),
        ("create mask = 0022", "mask-locks-out", "create mask = 0022\nvfs objects = acl_xattr"),
        ("create mask = 0022", "mask-locks-out", "create mask = 0022\nforce user = root"),
        ("create mask = 0022", "mask-locks-out", "create mask = 0022\ninherit permissions = yes"),
        # Names with a blank end at it.
        ("valid users = @EXAMPLE\\Domain Users", "name-cut-in-two", 'valid users = @"EXAMPLE\\Domain Users"'),
        ("write list = @Domain Admins, bob", "name-cut-in-two", "write list = @domain, @admins"),
        ("invalid users = domain guests", "name-cut-in-two", 'invalid users = "domain guests"'),
        # %S is a user in [homes] alone.
        ("valid users = %S", "share-name-as-user", "valid users = %S\npath = /home/data"),
        ("valid users = %S", "share-name-as-user", "valid users = %S @staff"),
        # Lists that leave out whom another line invites, or that leave out nobody.
        ("guest ok = yes\nvalid users = alice", "guests-not-valid", "guest ok = yes\nvalid users = alice nobody"),
        ("guest ok = yes\nvalid users = alice", "guests-not-valid", "guest ok = yes\nvalid users = @staff"),
        ("guest ok = yes\nvalid users = alice", "guests-not-valid", "guest ok = no\nvalid users = alice"),
        ("write list = @staff", "everybody-writes", "write list = @staff\nvalid users = @staff"),
        ("write list = @staff", "everybody-writes", "write list = @staff\nread list = @guests"),
        ("write list = @staff", "everybody-writes", "writeable = no\nwrite list = @staff"),
        ("write list = @a\nvalid users = @a @b", "everybody-writes", "write list = @a @b\nvalid users = @a @b"),
        ("valid users = @a\ninvalid users = @a @b", "all-users-invalid", "valid users = @a @c\ninvalid users = @a @b"),
        # Options of modules.
        (f"{FRUIT}fruit:metadata = xattr", "unknown-option-value", f"{FRUIT}fruit:metadata = Stream"),
        (f"{FRUIT}fruit:time_machine = yes", "unknown-option", f"{FRUIT}fruit:time machine = yes"),
        (f"{FRUIT}fruit:time_machine = yes", "unknown-option", f"{FRUIT}fruit:TimeMachine = yes"),
        ("vfs objects = recycle\nrecycle:keep_tree = yes", "unknown-option", "recycle:keep_tree = yes"),
        (
            "vfs objects = full_audit\nfull_audit:success = connect\nfull_audit:facility = local9",
            "unknown-option-value",
            "vfs objects = full_audit\nfull_audit:success = connect\nfull_audit:facility = LOCAL7",
        ),
        (
            "vfs objects = recycle\nrecycle:exclude = *.tmp|*.bak",
            "wrong-separator",
            "vfs objects = recycle\nrecycle:exclude = *.tmp, *.bak",
        ),
        (
            "vfs objects = recycle\nrecycle:exclude = /*.tmp/*.bak/",
            "wrong-separator",
            "vfs objects = recycle\nrecycle:exclude_dir = /tmp /cache",
        ),
        (
            "vfs objects = full_audit\nfull_audit:success = stat unlinkat",
            "busy-audit",
            "vfs objects = full_audit\nfull_audit:success = openat unlinkat",
        ),
        (
            "vfs objects = full_audit\nfull_audit:success = all !getwd",
            "busy-audit",
            "vfs objects = full_audit\nfull_audit:success = unlinkat none stat",
        ),
        (
            "vfs objects = fruit streams_xattr\nfruit:encoding = native",
            "encoding-without-catia",
            f"{FRUIT}fruit:encoding = native",
        ),
        # Modules of which one alone can act.
        ("vfs objects = recycle recycle", "module-twice", "vfs objects = recycle full_audit"),
        ("vfs objects = streams_depot streams_xattr", "rival-modules", "vfs objects = streams_depot acl_xattr"),
        ("vfs objects = shadow_copy shadow_copy2", "rival-modules", "vfs objects = shadow_copy2"),
        (f"{FRUIT}[other]\npath = /srv/other", "fruit-in-some-shares", f"{FRUIT}[print$]\npath = /srv/drivers"),
        (f"{FRUIT}[other]\npath = /srv/other", "fruit-in-some-shares", f"{FRUIT}[other]\npath = /srv/other\n{FRUIT}"),
        (
            "vfs objects = shadow_copy2\nshadow_copy2:snapdir = x",
            "wrong-prefix",
            "vfs objects = shadow_copy2\nshadow:snapdir = x",
        ),
        # A module that is not Samba's own may read the options of others.
        ("vfs objects = catia\nnfs4:chown = yes", "option-without-module", "vfs objects = ixnas\nnfs4:chown = yes"),
        # Guests.
        ("guest ok = yes", "guests-asked", "guest ok = yes\nprintable = yes"),
        ("guest ok = yes", "guests-asked", "guest ok = yes\nvalid users = nobody"),
        ("print command = lpr %s\nprinting = cups", "print-command-of-cups", "print command = lpr %s\nprinting = bsd"),
        # An audit of writes that smbd does not do so.
        (
            "vfs objects = full_audit\nfull_audit:success = pwrite",
            "unrecorded-requests",
            "vfs objects = full_audit\nfull_audit:success = pwrite pwrite_send",
        ),
        (
            "vfs objects = full_audit\nfull_audit:success = pread",
            "unrecorded-requests",
            "vfs objects = full_audit\nfull_audit:success = pread\naio read size = 0",
        ),
    ],
)
def test_a_line_of_a_share_beside_another(of_share: str, key: str, other: str):
    assert key in keys(of_share=of_share)
    assert key not in keys(of_share=other)


@pytest.mark.parametrize(
    ("of_global", "key", "other"),
    [
        ("wins support = yes\nwins server = 192.0.2.1", "two-wins-servers", "wins support = yes"),
        ("dos charset = UTF8", "utf8-for-dos", "dos charset = CP850"),
        ("workgroup = NAS\nnetbios name = nas", "named-as-workgroup", "workgroup = NAS\nnetbios name = nas1"),
        ("netbios name = a-server-of-ours", "long-netbios-name", "netbios name = server-of-ours"),
        (f"{MEMBER}password server = dc1.example.net", "named-controllers", f"{MEMBER}password server = *"),
        (
            "passdb backend = ldapsam:ldap://ldap.example.net\nldap ssl = off",
            "plain-passdb",
            "passdb backend = ldapsam:ldap://127.0.0.1\nldap ssl = off",
        ),
        (
            "passdb backend = ldapsam:ldap://ldap.example.net\nldap ssl = off",
            "plain-passdb",
            "passdb backend = ldapsam:ldaps://ldap.example.net\nldap ssl = off",
        ),
        ("server role = member server", "no-default-range", "server role = standalone server"),
        (MEMBER, "no-default-range", f"{MEMBER}idmap uid = 10000-20000\nidmap gid = 10000-20000"),
        (MEMBER, "no-default-range", f"{MEMBER}idmap config *:range = 3000 - 7999"),
        (MEMBER, "no-default-range", f"{MEMBER}include = /etc/samba/%m.conf"),
        (
            f"{MEMBER}{RANGES}idmap config EXAMPLE : range = 7999-999999",
            "ranges-overlap",
            f"{MEMBER}{RANGES}idmap config EXAMPLE : range = 8000-999999",
        ),
        (f"{MEMBER}{RANGES}", "no-range", f"{MEMBER}{RANGES}idmap config example : range = 10000-999999"),
        (
            f"{MEMBER}idmap config * : range = 7999-3000",
            "no-range",
            f"{MEMBER}idmap config * : range = 3000-7999",
        ),
        (
            f"{MEMBER}idmap config * : backend = ad\nidmap config * : range = 3000-7999",
            "default-backend",
            f"{MEMBER}idmap config * : backend = tdb\nidmap config * : range = 3000-7999",
        ),
        (
            f"{MEMBER}idmap config * : backend = autorid\nidmap config * : range = 100000-299998",
            "small-range",
            f"{MEMBER}idmap config * : backend = autorid\nidmap config * : range = 100000-299999",
        ),
        (
            f"{MEMBER}idmap config EXAMPLE.NET : backend = rid\nidmap config EXAMPLE.NET : range = 10000-99999",
            "realm-as-domain",
            f"{MEMBER}idmap config OTHER : backend = rid\nidmap config OTHER : range = 10000-99999",
        ),
    ],
)
def test_a_line_of_the_server_beside_another(of_global: str, key: str, other: str):
    assert key in keys(of_global)
    assert key not in keys(other)


@pytest.mark.parametrize(
    ("of_global", "is_told"),
    [
        ("", True),
        ("map to guest = never", True),
        ("map to guest = Bad User", False),
        (f"{MEMBER}idmap config * : range = 3000-7999", False),
        ("domain logons = yes", False),
        ("include = /etc/samba/%m.conf", False),
    ],
)
def test_guests_whom_windows_does_not_let_be_guests(of_global: str, is_told: bool):
    assert ("guests-asked" in keys(of_global, "guest ok = yes")) is is_told


def test_the_ranges_of_a_server_without_a_domain_are_not_judged():
    ranges = f"{RANGES}idmap config EXAMPLE : range = 4000-9999"
    assert "ranges-overlap" in keys(MEMBER + ranges)
    assert "ranges-overlap" not in keys(ranges)


def test_encryption_that_the_server_has_switched_off():
    share = "server smb encrypt = required"
    assert "encryption-switched-off" in keys("server smb encrypt = off", share)
    assert "encryption-switched-off" not in keys("server smb encrypt = if_required", share)


def test_a_list_that_keeps_out_lets_in_whom_it_does_not_name():
    (finding,) = [each for each in findings("", "invalid users = domain guests") if each.key == "name-cut-in-two"]
    assert finding.verdict is Ruling.RISKY
    assert '`invalid users = "domain guests"`' in finding.what_to_do


@pytest.mark.parametrize(
    "line",
    [
        "valid users = @Domain Users",
        "write list = @staff",
        "guest ok = yes\nvalid users = alice",
        "create mask = 0022",
        "vfs objects = full_audit\nfull_audit:success = all !getwd",
        "vfs objects = acl_xattr acl_tdb",
    ],
)
def test_no_edit_takes_away_what_decides_who_gets_in(line: str):
    text = f"[global]\n[data]\npath = /srv/data\nread only = no\n{line}\n"
    conf = read_conf(CONF, {CONF: text})
    found = judge(AuditedServer(conf=conf, path=CONF, facts={"samba.version": "4.17.12"}))
    assert found
    assert proposed_diff(found, {CONF: text}) == ""
