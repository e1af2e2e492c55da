"""A share that the server does not open: what is certain is told as the cause, what is only possible as that."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from app.base import errors
from app.base.targets import parse_target
from app.check.checked import CheckState
from app.check.target_checks import check_refusal
from app.clients import refusals
from app.clients.registry import connected_files
from forms.audit import share_access
from forms.tuning import fact_names
from storage.plan import Settings
from storage.records import Target, format_target
from tests.command_line import QUICK, Inside
from tests.servers.smbd import Smbd

SHARES: dict[str, dict[str, str]] = {
    "gone": {"path": "/nowhere/not-mounted"},
    "under-a-file": {"path": "/proc/version/data"},
    "a-file": {"path": "/proc/version"},
    "hidden": {"path": "/nowhere/hidden", "browseable": "no"},
    "hidden$": {"path": "/nowhere/administrative"},
    "per-user": {"path": "/nowhere/%U"},
    "as-nobody-known": {"force user": "no-such-account"},
    "in-no-group": {"force group": "no-such-group"},
    "half-a-mac": {"vfs objects": "fruit", "fruit:encoding": "none-such"},
    "single": {"max connections": "1"},
    "vetoed": {"veto files": "/.sharebench-*/lost+found/"},
    "readers": {"read list": "daemon"},
    "module": {"vfs objects": "no_such_module"},
    "off": {"available": "no"},
    "pathless": {"path": ""},
    "capital": {"vfs objects": "Recycle"},
    "proxy": {"msdfs root": "yes", "msdfs proxy": r"\other.example\data"},
    "no-hosts": {"hosts deny": "ALL"},
    "loopback": {"hosts deny": "127."},
    "script": {"root preexec": "/bin/false", "root preexec close": "yes"},
    "own-script": {"preexec": "/bin/false", "preexec close": "yes"},
    "others": {"valid users": "somebody-else"},
    "never-him": {"invalid users": "daemon nobody"},
    "sealed": {"server smb encrypt": "required"},
    "members": {"guest ok": "no"},
    "links": {"msdfs root": "yes"},
    "waiting": {"root preexec": "sleep 20"},
    "audited": {"vfs objects": "full_audit", "full_audit:success": "mkdir"},
    "locked": {"kernel share modes": "yes"},
    "closed": {"read only": "yes"},
    "guarded": {"vfs objects": "readonly"},
    "keeping": {"vfs objects": "recycle", "recycle:repository": ".bin/%U"},
    "keeping-all": {"vfs objects": "recycle", "recycle:keeptree": "yes"},
    "unremovable": {"create mask": "0000"},
    "x%20y": {},
    "Mu\u0308ll": {},
    "T\u00fcr": {},
}

FOLDERS = {"no-entry": 0o711, "no-writing": 0o755, "below-a-closed-one": 0o777}
"""Root's folders behind shares, by their modes."""


@dataclass(frozen=True)
class ShareServer:
    smbd: Smbd

    def url(self, share: str, path: str = "", *, user: str = "") -> str:
        target = Target(protocol="smb", host=self.smbd.host, port=self.smbd.port, share=share, path=path, user=user)
        return format_target(target)


@pytest.fixture(scope="module")
def server() -> Iterator[ShareServer]:
    smbd = Smbd({"host msdfs": "yes"})
    usual = {"path": str(smbd.guest_folder), "guest ok": "yes", "read only": "no"}
    smbd.more_shares = {name: usual | options for name, options in SHARES.items()}

    (smbd.guest_folder / "link").symlink_to(r"msdfs:other.example\data")
    circle = smbd.root / "circle"
    circle.symlink_to(circle)
    smbd.more_shares["circle"] = usual | {"path": str(circle)}
    (smbd.root / "dangling").symlink_to("/nowhere/not-mounted")
    smbd.more_shares["dangling"] = usual | {"path": str(smbd.root / "dangling")}
    for name, mode in FOLDERS.items():
        folder = smbd.root / name / "data"
        folder.mkdir(parents=True)
        folder.chmod(mode)
        smbd.more_shares[name] = usual | {"path": str(folder)}
    (smbd.root / "below-a-closed-one").chmod(0o700)
    (smbd.guest_folder / "two").symlink_to(r"msdfs:first.example\a,second.example\b")
    try:
        smbd.start()
        yield ShareServer(smbd)
    finally:
        smbd.stop()


def checks_of(inside: Inside, url: str, *options: str) -> dict[str, dict[str, Any]]:
    """The checks by their names, of a target that cannot be measured."""
    done = inside("check", url, *options, "--json")
    assert done.returncode == 4, done.stderr
    return {item["name"]: item for item in json.loads(done.stdout)}


@pytest.mark.varied
@pytest.mark.parametrize(
    ("share", "says"),
    [
        ("gone", "path = /nowhere/not-mounted does not exist"),
        ("under-a-file", "path = /proc/version/data does not exist"),
        ("module", "vfs objects = no_such_module"),
        ("off", "available = no"),
        ("pathless", "it has no path"),
        ("capital", "vfs objects = Recycle: the server has recycle"),
        ("a-file", "path = /proc/version is a file, not a folder"),
        ("no-hosts", "hosts deny = ALL keeps everybody out"),
        ("circle", "circle is a link that leads in a circle"),
        ("dangling", "dangling is a link to a place that does not exist"),
        ("hidden", "path = /nowhere/hidden does not exist"),
        ("hidden$", "path = /nowhere/administrative does not exist"),
    ],
)
def test_what_is_certain_is_the_cause(inside: Inside, server: ShareServer, share: str, says: str):
    found = checks_of(inside, server.url(share))
    assert found["cause"]["state"] == "failed"
    assert says in found["cause"]["text"]
    assert found["share"]["state"] == "failed"
    assert found.get("settings", {}).get("state") != "fine", "nothing is all right with these settings"
    if share in {"gone", "under-a-file", "module"}:
        assert "no such share" not in found["share"]["text"]
        assert "lists this share" in found["share"]["text"]


@pytest.mark.varied(user=1)
@pytest.mark.parametrize("user", ["", "bench"])
@pytest.mark.parametrize(
    ("share", "setting"),
    [
        ("loopback", "hosts deny = 127."),
        ("script", "root preexec = /bin/false"),
        ("own-script", "preexec = /bin/false"),
        ("others", "valid users = somebody-else"),
        ("never-him", "invalid users = daemon nobody"),
    ],
)
def test_what_may_refuse_is_told_as_that(inside: Inside, server: ShareServer, share: str, setting: str, user: str):
    found = checks_of(inside, server.url(share, user=user))
    assert found["share"]["state"] == "failed"
    assert found["cause"]["state"] == "attention"
    assert setting in found["cause"]["text"]
    assert "does not know this user" not in found["share"]["text"]
    assert found["settings"]["state"] != "fine"


@pytest.mark.varied
@pytest.mark.parametrize(
    ("share", "setting"), [("sealed", "server smb encrypt = required"), ("members", "guest ok = no")]
)
def test_what_refuses_guests_alone(inside: Inside, server: ShareServer, share: str, setting: str):
    found = checks_of(inside, server.url(share))
    assert setting in found["cause"]["text"]


@pytest.mark.varied
@pytest.mark.parametrize(
    ("share", "path", "check", "leads_to"),
    [
        ("proxy", "", "share", "//other.example/data"),
        ("links", "link/file", "file", "//other.example/data"),
        ("links", "link", "file", "//other.example/data"),
        ("links", "two/sub/file", "file", "//first.example/a"),
    ],
)
def test_a_dfs_link_names_its_target(
    inside: Inside, server: ShareServer, share: str, path: str, check: str, leads_to: str
):
    found = checks_of(inside, server.url(share, path, user="bench"))
    assert leads_to in found[check]["text"]


@pytest.mark.parametrize("command", [("quick",), ("diagnose", "--yes", "--only", "distance")])
def test_a_dfs_link_names_its_target_to_whoever_works_in_folders(
    inside: Inside, server: ShareServer, command: tuple[str, ...]
):
    done = inside(*command, server.url("links", "link", user="bench"))
    assert done.returncode == 4
    assert "//other.example/data" in done.stderr


@pytest.mark.parametrize(
    "command",
    [("quick", "--size", "64M", "--seconds", "0.1"), ("run", "--put", "--runs", "1", "--warmup", "0", "--size", "64K")],
)
def test_a_share_that_keeps_what_is_removed_says_so_where_files_are_made(
    inside: Inside, server: ShareServer, command: tuple[str, ...]
):
    for share, is_told in (("keeping-all", True), ("bench", False)):
        url = server.url(share, user="bench")
        options = ("--quiet-time", "skip", "--ceiling", "skip") if command[0] == "run" else ()
        done = inside(*command, url, *options, "--smb-conf", str(server.smbd.conf))
        assert done.returncode == 0, done.stderr
        assert ("/keeping-all/.recycle`" in done.stderr) is is_told
        assert ("vfs objects = recycle" in done.stderr) is is_told


@pytest.mark.varied(share=2)
@pytest.mark.parametrize("share", ["gone", "off", "no-hosts", "script", "others"])
def test_an_audit_tells_what_it_knows_without_a_session(inside: Inside, server: ShareServer, share: str):
    done = inside("audit", server.url(share), "--smb-conf", str(server.smbd.conf), "--json")
    assert done.returncode == 1, "another share of the file has a module that is missing"
    document = json.loads(done.stdout)
    closing = {finding["setting"] for finding in document["findings"] if finding["key"] == "share-not-opened"}
    severities = [finding["severity"] for finding in document["findings"]]
    assert severities == sorted(severities, key=["problem", "warning", "note"].index), "the gravest first"
    problems = " ".join(document["problems"])
    assert "no session" in problems
    name, value = next(iter(SHARES[share].items()))
    assert name in closing or f"{name} = {value}" in problems


def test_a_script_that_a_connection_waits_for_may_be_why_nothing_moves(inside: Inside, server: ShareServer):
    done = inside("check", server.url("waiting"), "--timeout", "3", "--json")
    found = {item["name"]: item for item in json.loads(done.stdout)}
    assert "nothing moved" in found["connect"]["text"]
    assert "root preexec = sleep 20" in found["cause"]["text"]
    assert found["cause"]["state"] == "attention"
    assert found.get("settings", {}).get("state") != "fine"


def test_a_module_that_does_not_start_is_one_of_the_causes(inside: Inside, server: ShareServer):
    text = checks_of(inside, server.url("audited"))["share"]["text"]
    assert "a module of vfs objects may not start" in text


@pytest.mark.varied
@pytest.mark.parametrize("share", ["hidden", "hidden$"])
def test_a_share_that_is_not_listed_may_be_hidden(inside: Inside, server: ShareServer, share: str):
    assert "or one that it hides" in checks_of(inside, server.url(share))["share"]["text"]


@pytest.mark.varied
@pytest.mark.parametrize(
    ("share", "setting"),
    [
        ("per-user", "path = /nowhere/%U"),
        ("half-a-mac", "vfs objects = fruit"),
    ],
)
def test_what_may_close_a_share_is_told_as_that(inside: Inside, server: ShareServer, share: str, setting: str):
    found = checks_of(inside, server.url(share, user="bench"))
    assert "log in" not in found, "the login succeeded"
    assert "password" not in found["share"]["text"]
    assert found["cause"]["state"] == "attention"
    assert setting in found["cause"]["text"]
    assert found["settings"]["state"] != "fine"


@pytest.mark.parametrize(
    ("share", "reason"),
    [
        ("as-nobody-known", "the server knows no such user"),
        ("in-no-group", "the server knows no such group"),
    ],
)
def test_an_account_that_the_server_does_not_know_is_the_cause(
    inside: Inside, server: ShareServer, share: str, reason: str
):
    found = checks_of(inside, server.url(share, user="bench"))
    assert "password" not in found["share"]["text"]
    assert found["cause"]["state"] == "failed"
    assert reason in found["cause"]["text"]


@pytest.mark.varied
@pytest.mark.parametrize(
    ("share", "options", "mode"),
    [
        ("no-entry", (), "drwx--x--x"),
        ("no-entry", ("--put",), "drwx--x--x"),
        ("no-writing", ("--put",), "drwxr-xr-x"),
        ("below-a-closed-one", (), "drwx------"),
    ],
)
def test_rights_of_folders_may_be_why_access_is_denied(
    inside: Inside, server: ShareServer, share: str, options: tuple[str, ...], mode: str
):
    done = inside("check", server.url(share, user="bench"), *options, "--json")
    found = {item["name"]: item for item in json.loads(done.stdout)}
    assert found["file"]["state"] == "failed"
    assert found["cause"]["state"] == "attention"
    assert mode in found["cause"]["text"]


def test_rights_that_allow_it_are_no_cause():
    rights = {fact_names.FOLDER_RIGHTS: "drwxr-xr-x"}
    assert share_access.rights_that_may_refuse(rights, writing=False) == []
    assert len(share_access.rights_that_may_refuse(rights, writing=True)) == 1
    assert share_access.rights_that_may_refuse({}, writing=True) == []


def test_a_module_that_lets_nobody_write_is_told(inside: Inside, server: ShareServer):
    done = inside("check", server.url("guarded", user="bench"), "--put", "--json")
    found = {item["name"]: item for item in json.loads(done.stdout)}
    assert "vfs objects = readonly" in found["cause"]["text"]


@pytest.mark.parametrize(("share", "command"), [("keeping", ""), ("keeping-all", "/keeping-all/.recycle`")])
def test_a_share_that_keeps_what_is_removed_says_so(inside: Inside, server: ShareServer, share: str, command: str):
    done = inside("check", server.url(share, user="bench"), "--put", "--json")
    found = {item["name"]: item for item in json.loads(done.stdout)}
    assert found["recycle"]["state"] == "attention"
    assert command in found["recycle"]["text"]
    assert ("sharebench clean" in found["recycle"]["text"]) is bool(command)


@pytest.mark.parametrize(
    ("options", "path", "folder"),
    [
        ({}, "a", None),
        ({"vfs_objects": "fruit recycle"}, "a/b", ".recycle"),
        ({"vfs_objects": "recycle", "recycle:repository": "bin/", "recycle:keeptree": "no"}, "a/b", "bin"),
        ({"vfs_objects": "recycle", "recycle:repository": "bin", "recycle:keeptree": "Yes"}, "a/b", "bin/a/b"),
    ],
)
def test_where_a_recycle_bin_is(options: dict[str, str], path: str, folder: str | None):
    assert share_access.recycle_folder(share_facts(**options), path) == folder


def test_a_file_that_could_be_written_and_not_removed_is_told(inside: Inside, server: ShareServer):
    text = checks_of(inside, server.url("unremovable", user="bench"), "--put")["file"]["text"]
    names = [path.name for path in server.smbd.guest_folder.glob(".sharebench-*")]
    for name in names:
        (server.smbd.guest_folder / name).unlink()
    assert len(names) == 1
    assert names[0] in text
    assert "remove it by hand" in text


def test_a_share_that_is_full_is_not_said_to_be_broken(inside: Inside, server: ShareServer):
    target = parse_target(server.url("single", user="bench"))
    with connected_files(target, server.smbd.secrets(), Settings()):
        found = checks_of(inside, server.url("single", user="bench"))
    assert "max connections" in found["share"]["text"]
    assert found["cause"]["text"].endswith("max connections = 1")


@pytest.mark.varied
@pytest.mark.parametrize(
    ("share", "setting"), [("vetoed", "veto files = /.sharebench-*/lost+found/"), ("readers", "read list = daemon")]
)
def test_a_setting_that_refuses_a_new_file_is_told(inside: Inside, server: ShareServer, share: str, setting: str):
    done = inside("check", server.url(share, user="bench"), "--put", "--json")
    found = {item["name"]: item for item in json.loads(done.stdout)}
    assert "check the name" not in found["file"]["text"]
    assert setting in found["cause"]["text"]


def test_a_run_that_may_not_make_its_file_does_not_look_for_it(inside: Inside, server: ShareServer):
    said = inside.fails(4, "run", server.url("vetoed", user="bench"), "--put", "--size", "64K", *QUICK)
    assert "refuses a new file of this name" in said


def test_a_new_file_is_not_said_to_be_in_use(inside: Inside, server: ShareServer):
    done = inside("check", server.url("locked", user="bench"), "--put", "--json")
    found = {item["name"]: item for item in json.loads(done.stdout)}
    if "folder" in found:
        pytest.skip("this file system has share modes")
    assert "close it there" not in found["file"]["text"]
    assert "kernel share modes" in found["file"]["text"]


@pytest.mark.varied
@pytest.mark.parametrize(("share", "is_told"), [("closed", True), ("members", False)])
def test_a_read_only_share_is_told_of_a_put(inside: Inside, server: ShareServer, share: str, is_told: bool):
    done = inside("check", server.url(share, user="bench"), "--put", "--json")
    found = {item["name"]: item for item in json.loads(done.stdout)}
    assert ("read only = yes" in found.get("cause", {}).get("text", "")) is is_told


def test_a_share_that_is_written_otherwise_is_named(inside: Inside, server: ShareServer):
    text = checks_of(inside, server.url("x y"))["share"]["text"]
    assert "the share is called x%20y there" in text
    assert "x%2520y" in text


@pytest.mark.varied
@pytest.mark.parametrize(("typed", "stored"), [("M\u00fcll", "Mu\u0308ll"), ("Tu\u0308r", "T\u00fcr")])
def test_a_share_that_is_composed_otherwise_is_named_so_that_one_sees_it(
    inside: Inside, server: ShareServer, typed: str, stored: str
):
    url = checks_of(inside, server.url(typed))["share"]["text"].split()[-1]
    assert parse_target(url).share == stored
    assert "\u0308" not in url


def test_an_audit_of_a_mistyped_share_is_refused(inside: Inside, server: ShareServer):
    assert "the server has no such share" in inside.fails(4, "audit", server.url("nowhere"))


def test_the_name_is_doubted_where_the_server_does_not_list_it(inside: Inside, server: ShareServer):
    assert "check the share's name" in checks_of(inside, server.url("nowhere"))["share"]["text"]


# Edges, by facts alone

GUEST = errors.GuestDeniedError("refused")
USER = errors.ShareDeniedError("refused")
NAS = Target(protocol="smb", host="nas", port=445, share="data")


def share_facts(**values: str) -> dict[str, str]:
    return {f"smb.conf/share/{name.replace('_', ' ')}": value for name, value in values.items()}


@pytest.mark.parametrize(
    ("facts", "count"),
    [
        (share_facts(root_preexec="/bin/x", root_preexec_close="Yes"), 1),
        (share_facts(root_preexec="/bin/x", root_preexec_close="No"), 0),
        (share_facts(root_preexec="", root_preexec_close="Yes"), 0),
        (share_facts(hosts_deny=""), 0),
        (share_facts(hosts_deny="ALL", hosts_allow="192.0.2.", valid_users="a b"), 3),
        (share_facts(server_smb_encrypt="default"), 0),
        (share_facts(server_smb_encrypt="mandatory"), 1),
        (share_facts(guest_ok="Yes"), 0),
        ({"smb.conf/global/hosts deny": "ALL"}, 1),
        ({}, 0),
    ],
)
def test_settings_that_may_refuse_a_guest(facts: dict[str, str], count: int):
    assert len(share_access.refusing_settings(facts, is_guest=True)) == count


@pytest.mark.parametrize(
    ("facts", "count"),
    [
        (share_facts(preexec="/bin/x"), 1),
        (share_facts(preexec="/bin/x", root_preexec="/bin/y", hostname_lookups="yes"), 3),
        (share_facts(preexec="", hostname_lookups="no"), 0),
        ({}, 0),
    ],
)
def test_settings_that_a_connection_may_wait_for(facts: dict[str, str], count: int):
    assert len(share_access.settings_that_may_stall(facts)) == count


def test_a_user_is_not_refused_by_what_refuses_guests():
    facts = share_facts(server_smb_encrypt="required", guest_ok="no")
    assert share_access.refusing_settings(facts, is_guest=False) == []
    assert len(share_access.refusing_settings(facts, is_guest=True)) == 2


@pytest.mark.parametrize(
    ("facts", "count"),
    [
        (share_facts(max_connections="0"), 0),
        (share_facts(max_connections="1"), 1),
        (share_facts(path="/srv/data", force_user="", vfs_objects=""), 0),
        (share_facts(path="/srv/%S", force_user="ftp", force_group="+users", vfs_objects="fruit"), 4),
    ],
)
def test_settings_that_may_close_a_share(facts: dict[str, str], count: int):
    assert len(share_access.settings_that_may_close(facts)) == count


@pytest.mark.parametrize(
    ("of_share", "of_server", "dialect", "count"),
    [
        ("required", "default", "SMB3", 0),
        ("required", "off", "SMB3", 1),
        ("required", "if_required", "SMB3_02", 0),
        ("required", "default", "SMB2_10", 1),
        ("desired", "off", "SMB2_10", 0),
        ("default", "off", "SMB2_10", 0),
    ],
)
def test_encryption_that_the_server_cannot_do_closes_the_share(of_share: str, of_server: str, dialect: str, count: int):
    of_all = {"server smb encrypt": of_server, "server max protocol": dialect}
    facts = {f"smb.conf/global/{name}": value for name, value in of_all.items()}
    assert len(share_access.reasons_not_opened(facts | share_facts(server_smb_encrypt=of_share))) == count


@pytest.mark.parametrize(("pattern", "count"), [("/.sharebench-*/", 1), ("/.*/", 1), ("/*.tmp/", 0), ("", 0)])
def test_a_pattern_that_hides_the_new_file_refuses_it(pattern: str, count: int):
    facts = share_facts(read_only="no", veto_files=pattern)
    assert len(share_access.settings_against_writing(facts, "docs/.sharebench-0123456789ab")) == count


@pytest.mark.parametrize(("available", "count"), [("No", 1), ("Yes", 0)])
def test_a_share_out_of_service(available: str, count: int):
    assert len(share_access.reasons_not_opened(share_facts(available=available))) == count


@pytest.mark.parametrize(
    ("version", "operations", "count"),
    [("4.17.12", "mkdir", 1), ("4.17.12", "mkdirat", 0), ("4.11.0", "mkdir", 0), ("4.17.12", "none mkdir", 0)],
)
def test_an_operation_that_this_samba_does_not_have_closes_the_share(version: str, operations: str, count: int):
    facts = share_facts(vfs_objects="full_audit") | {fact_names.SAMBA_VERSION: version}
    with_operations = facts | {"smb.conf/share/full_audit:success": operations}
    assert len(share_access.reasons_not_opened(with_operations)) == count


def test_a_missing_module_of_another_share_is_no_cause():
    warnings = fact_names.in_one_fact(["vfs objects = odd: there is no such module, and every connection to …"])
    of_another = {fact_names.CONF_WARNINGS: warnings} | share_facts(vfs_objects="fruit")
    assert share_access.reasons_not_opened(of_another) == []
    assert len(share_access.reasons_not_opened(of_another | share_facts(vfs_objects="fruit odd"))) == 1


@pytest.mark.parametrize("error", [GUEST, USER])
def test_nothing_is_said_of_settings_that_nobody_read(error: errors.MeasurementError):
    names = [checked.name for checked in check_refusal(NAS, error, {})]
    assert names == ["reach", "share"]


def test_a_refused_password_has_no_cause_among_the_shares_settings():
    *_, failed = check_refusal(NAS, errors.LoginError("wrong password"), share_facts(hosts_deny="ALL"))
    assert (failed.name, failed.state) == ("log in", CheckState.FAILED)


def test_a_share_that_no_setting_refuses_is_not_explained():
    *_, cause = check_refusal(NAS, USER, share_facts(path="/srv/data", hosts_deny=""))
    assert (cause.name, cause.state) == ("cause", CheckState.UNKNOWN)
    assert "sharesec data" in cause.text


# What refuses before any share is asked for


@pytest.mark.varied
@pytest.mark.parametrize(
    ("options", "user", "check", "setting"),
    [
        ({"hosts deny": "ALL", "hosts allow": "192.0.2.1"}, "", "connect", "hosts deny = ALL"),
        ({"max smbd processes": "1"}, "bench", "connect", "max smbd processes = 1"),
        ({"server min protocol": "NT1", "server max protocol": "NT1"}, "bench", "connect", "server max protocol = NT1"),
        ({"server smb encrypt": "required"}, "", "log in", "server smb encrypt = required"),
        ({"server smb encrypt": "required"}, "nobody-such", "log in", "server smb encrypt = required"),
    ],
)
def test_a_server_that_refuses_everything(
    inside: Inside, make_smbd: Callable[..., Smbd], options: dict[str, str], user: str, check: str, setting: str
):
    smbd = make_smbd(options)
    found = checks_of(inside, format_target(replace(smbd.target(guest=True), user=user or None)))
    assert found[check]["state"] == "failed"
    assert setting in found["cause"]["text"]
    assert found["cause"]["state"] == "attention"
    assert found["settings"]["state"] != "fine"


@pytest.mark.varied
@pytest.mark.parametrize(
    ("options", "check", "setting"),
    [
        ({"unix charset": "NOSUCH"}, "log in", "unix charset = NOSUCH"),
        ({"username map": "/nowhere/users"}, "share", "username map = /nowhere/users"),
    ],
)
def test_a_server_that_knows_nobody(
    inside: Inside, make_smbd: Callable[..., Smbd], options: dict[str, str], check: str, setting: str
):
    smbd = make_smbd(options)
    found = checks_of(inside, format_target(smbd.target()), "--smb-conf", str(smbd.conf))
    assert found[check]["state"] == "failed"
    assert setting in found["cause"]["text"]
    assert found["cause"]["state"] == "attention"


@pytest.mark.parametrize(
    ("error", "facts", "count"),
    [
        (errors.HungUpError(), {"smb.conf/global/root directory": "/nowhere"}, 1),
        (errors.HungUpError(), {"smb.conf/global/root directory": "/"}, 0),
        (errors.LoginError(), {"smb.conf/global/security": "ADS"}, 1),
        (errors.LoginError(), {"smb.conf/global/security": "USER"}, 0),
        (errors.LoginError(), {"smb.conf/global/unix charset": "NOSUCH"}, 0),
        (errors.LoginDeniedError(), {"smb.conf/global/unix charset": "NOSUCH"}, 1),
        (errors.LoginDeniedError(), {"smb.conf/global/unix charset": "UTF-8"}, 0),
        (errors.GuestDeniedError(), {fact_names.ACCOUNTS_MISSING: "passdb backend = tdbsam:/nowhere/users"}, 1),
        (errors.GuestDeniedError(), {fact_names.ACCOUNTS_MISSING: "guest account = gone"}, 0),
        (errors.ShareDeniedError(), {fact_names.ACCOUNTS_MISSING: "username map = /nowhere/users"}, 0),
    ],
)
def test_settings_by_which_users_are_not_known(error: errors.MeasurementError, facts: dict[str, str], count: int):
    assert len(refusals.settings_that_may_refuse(error, facts)) == count


@pytest.mark.parametrize(
    ("facts", "count"),
    [
        ({"smb.conf/global/interfaces": "eth9", "smb.conf/global/bind interfaces only": "Yes"}, 1),
        ({"smb.conf/global/interfaces": "eth9", "smb.conf/global/bind interfaces only": "No"}, 0),
        ({"smb.conf/global/interfaces": "", "smb.conf/global/bind interfaces only": "Yes"}, 0),
        ({fact_names.ACCOUNTS_MISSING: "guest account = gone"}, 1),
        ({fact_names.ACCOUNTS_MISSING: "force user = gone"}, 0),
    ],
)
def test_settings_by_which_nothing_listens(facts: dict[str, str], count: int):
    assert len(share_access.settings_against_listening(facts)) == count


def test_a_server_that_does_not_start_for_its_interfaces_is_told(inside: Inside, tmp_path: Path):
    conf = tmp_path / "smb.conf"
    conf.write_text("[global]\ninterfaces = no-card9\nbind interfaces only = yes\n")
    found = checks_of(inside, "smb://127.0.0.1:9/data", "--smb-conf", str(conf))
    assert found["reach"]["state"] == "failed"
    assert "the server has no no-card9" in found["cause"]["text"]


def test_a_wrong_password_has_no_cause_among_the_settings(server: ShareServer, tmp_path: Path):
    wrong = Inside(tmp_path / "notebook.db", password="wrong")
    found = checks_of(wrong, server.url("bench", user="bench"))
    assert found["log in"]["state"] == "failed"
    assert "cause" not in found


@pytest.mark.parametrize(("processes", "count"), [("0", 0), ("1", 1)])
def test_a_limit_of_processes_may_make_a_server_hang_up(processes: str, count: int):
    assert len(share_access.hang_up_settings({"smb.conf/global/max smbd processes": processes})) == count


@pytest.mark.varied
@pytest.mark.parametrize(
    ("stored", "typed"),
    [("Gro\u0308\u00dfe.iso", "Gr\u00f6\u00dfe.iso"), ("a%20b.iso", "a b.iso"), ("c d.iso", "c%20d.iso")],
)
def test_a_file_that_is_written_otherwise_is_named(inside: Inside, smbd: Smbd, stored: str, typed: str):
    smbd.make_file(stored, b"x")
    found = checks_of(inside, format_target(smbd.target(typed)))
    url = found["file"]["text"].partition("otherwise: ")[2]
    assert parse_target(url) == parse_target(format_target(smbd.target(stored)))
    # Composed and apart look the same: the marks are escapes.
    assert "\u0308" not in url


def test_a_file_that_is_not_there_in_any_spelling(inside: Inside, smbd: Smbd):
    assert "written otherwise" not in checks_of(inside, format_target(smbd.target("nothing-like-it")))["file"]["text"]
