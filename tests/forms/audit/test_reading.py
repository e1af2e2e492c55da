"""Findings of how smbd reads an smb.conf: comments, numbers, lists, modules, places; each with what is no finding."""

from __future__ import annotations

import pytest

from forms.audit.audited_server import AuditedServer
from forms.audit.harmful_settings import harmful_settings
from forms.audit.judge import judge
from forms.audit.value_findings import value_findings
from forms.tuning import vfs_modules
from forms.tuning.conf_file import read_conf
from forms.tuning.fact_names import ACCOUNTS_MISSING, INTERFACES_MISSING, PARAMETER_PREFIX, SAMBA_VERSION
from storage.looks import AuditFinding, Ruling
from storage.records import FactValue

CONF = "/etc/samba/smb.conf"


def audited(text: str, version: str = "4.17.12", **files: str) -> list[AuditFinding]:
    texts = {CONF: text, **{f"/etc/{name}": content for name, content in files.items()}}
    facts: dict[str, FactValue] = {SAMBA_VERSION: version} if version else {}
    return list(judge(AuditedServer(conf=read_conf(CONF, texts), path=CONF, facts=facts)))


def keys(text: str, version: str = "4.17.12", **files: str) -> set[str]:
    return {finding.key for finding in audited(text, version, **files)}


def the_one(text: str, key: str, version: str = "4.17.12") -> AuditFinding:
    (finding,) = (each for each in audited(text, version) if each.key == key)
    return finding


# Comments


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("path = /data/films #films", "path = /data/films"),
        ("path = /data/films ;films", "path = /data/films"),
        ("path = /data/films //films", "path = /data/films"),
        ("path = /data/films # films", "path = /data/films"),
        ("guest account = visitor #nobody", "guest account = visitor"),
        ("dos charset = CP850 ; old", "dos charset = CP850"),
        ("vfs objects = catia #fruit", "vfs objects = catia"),
        ("write list = eve #mallory", "write list = eve"),
        ("recycle:repository = .bin #per user", "recycle:repository = .bin"),
        ("force group = #staff", ""),
    ],
)
def test_a_comment_behind_a_value_is_harmful_in_any_spelling(line: str, instead: str):
    section = "global" if "charset" in line or "account" in line else "films"
    finding = the_one(f"[{section}]\n{line}\n", "trailing-comment")
    assert finding.verdict is Ruling.HARMFUL
    assert finding.instead == instead


@pytest.mark.parametrize(
    "line",
    [
        "path = /data/Plant #5",
        "path = /data/#recycle",
        "comment = Films; music, and more",
        "comment = Nr #7",
        "root preexec = mkdir /tmp/%u ; chown %u /tmp/%u",
        "print command = lpr -r %s # fast",
        "veto files = /#recycle/@eaDir/",
        "full_audit:prefix = %u;%I",
        "msdfs proxy = //backup/films",
    ],
)
def test_what_only_looks_like_a_comment_is_none(line: str):
    assert "trailing-comment" not in keys(f"[films]\n{line}\n")


def test_a_comment_in_a_text_that_people_see_is_not_harmful():
    assert the_one("[films]\ncomment = All films # public\n", "trailing-comment").verdict is Ruling.MISPLACED


@pytest.mark.parametrize("line", ["valid users = eve ; all others", "hosts allow = 192.0.2. ; LAN"])
def test_a_semicolon_separates_entries_of_a_list(line: str):
    assert "semicolon-in-list" in keys(f"[films]\n{line}\n")
    assert "semicolon-in-list" not in keys(f"[films]\n{line.replace(' ;', ',')}\n")


# Values that smbd refuses, or reads in its own way


@pytest.mark.parametrize(
    "line",
    [
        "read only =",
        "log level = 2 quiet",
        "log level = auth 5",
        "create mask = rwxr-x",
        "max log size = 2G",
        'guest ok = "yes"',
        "strict locking = sometimes",
        "aio read size = -1",
        "map to guest = Bad Name",
        "printing = cupps",
        "copy = nothing",
        "copy = films",
    ],
)
def test_a_value_that_smbd_refuses_is_harmful(line: str):
    section = "global" if line.startswith(("log", "max", "map")) else "films"
    assert the_one(f"[{section}]\n{line}\n", "refused").verdict is Ruling.HARMFUL


@pytest.mark.parametrize(
    "line",
    ["read only = Y E S", "log level = 2 auth:3", "log level =", "create mask = 0750", "max log size = 2097151 K"],
)
def test_a_value_that_smbd_takes_is_not_called_refused(line: str):
    assert "refused" not in keys(f"[global]\n{line}\n")


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("deadtime = 15 minutes", "15"),
        ("max open files = 50K", "50"),
        ("winbind cache time = 300s", "300"),
        ("socket options = TCP_KEEPIDLE=2m", "2"),
        ("deadtime = 10 # minutes", "10"),
    ],
)
def test_a_number_that_ends_early_is_told(line: str, number: str):
    assert number in the_one(f"[global]\n{line}\n", "cut-number").why
    plain = line.partition(" =")[0] + f" = {number}"
    assert "cut-number" not in keys(f"[global]\n{plain}\n")


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ("SO_SNDBUF=256K", "pinned-send-buffer"),
        ("SO_RCVBUF=1M", "pinned-receive-buffer"),
        ("SO_RCVBUF=lots", "pinned-receive-buffer"),
        ("TCP_NODELAY=yes", "nagle"),
        ("SO_SNDBUF = 262144", "pinned-send-buffer"),
    ],
)
def test_socket_options_are_judged_by_the_digits_that_smbd_reads(options: str, key: str):
    assert the_one(f"[global]\nsocket options = {options}\n", key).verdict is Ruling.HARMFUL


def test_a_buffer_of_digits_alone_is_judged_as_before():
    assert "pinned-send-buffer" not in keys("[global]\nsocket options = SO_SNDBUF=262144\n")


@pytest.mark.parametrize("level", ["vfs:10", "1 smb2:10 auth:5", "0 locking:7@/var/log/locking.log", "all:1 locking:6"])
def test_a_log_level_is_judged_by_its_highest_class(level: str):
    found = keys(f"[global]\nlog level = {level}\nmax log size = 0\n")
    assert {"log-level-high", "endless-log"} <= found


@pytest.mark.parametrize(
    "level", ["1 auth:2", "0", "2", "1 vfs:1 smb2:0", "1 printdrivers:10 registry:9", "1 nosuch:9"]
)
def test_a_log_level_of_low_classes_is_none(level: str):
    found = keys(f"[global]\nlog level = {level}\nmax log size = 0\n")
    assert not {"log-level-high", "log-level-raised", "endless-log"} & found


def test_a_raised_class_without_a_limit_of_the_log_is_told():
    assert {"log-level-raised", "endless-log"} <= keys("[global]\nlog level = 1 vfs:3\nmax log size = 0\n")


def test_a_line_that_is_what_would_be_written_is_none():
    assert "log-level-raised" not in keys("[global]\nlog level = 1 auth:10\n")
    assert "log-level-raised" in keys("[global]\nlog level = 2 auth:10\n")


@pytest.mark.parametrize(
    "name", ["aio write behind", "hide files", "veto files", "include", "comment", "dfree command"]
)
def test_an_empty_value_is_the_default(name: str):
    assert keys(f"[films]\npath = /data\n{name} =\n") == set()


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("veto files = *.tmp *.bak", "/*.tmp/*.bak/"),
        ("veto files = *.tmp;*.bak", "/*.tmp/*.bak/"),
        ("veto files = /*.tmp,*.bak/", "/*.tmp/*.bak/"),
        ("hide files = thumbs.db desktop.ini", "/thumbs.db/desktop.ini/"),
        ("veto oplock files = *.mdb|*.accdb", "/*.mdb/*.accdb/"),
        ("veto files = /*.tmp/ *.bak/", "/*.tmp/*.bak/"),
    ],
)
def test_patterns_are_separated_by_slashes_alone(line: str, instead: str):
    finding = the_one(f"[films]\n{line}\n", "wrong-separator")
    assert str(finding.instead).endswith(instead)


@pytest.mark.parametrize(
    "value", ["/*.tmp/*.bak/", "/Temporary Items/.DS_Store/", "/My file.txt/", "*.tmp", "/~$*/", "/a, b/"]
)
def test_patterns_with_slashes_are_right(value: str):
    assert "wrong-separator" not in keys(f"[films]\nveto files = {value}\n")


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ('"eth0;speed=1000"', "slow-interface"),
        ('"eth0;capability=RSS,speed=10G"', "slow-interface"),
        ('lo "192.0.2.9;speed=2500"', "slow-interface"),
        ("eth0;speed=10000000000", "unquoted-interface"),
        ('"eth0;capability=RSX"', "unknown-interface-option"),
        ('"eth0;spead=10000000000"', "unknown-interface-option"),
    ],
)
def test_options_of_interfaces_are_read(value: str, key: str):
    assert key in keys(f"[global]\ninterfaces = {value}\n")


@pytest.mark.parametrize("value", ["lo eth0 192.0.2.0/24", '"eth0;if_index=3,capability=RDMA,speed=10000000000"'])
def test_interfaces_that_are_right(value: str):
    assert keys(f"[global]\ninterfaces = {value}\n") == set()


def test_testparm_prints_interfaces_without_their_quotes():
    (setting,) = read_conf(CONF, {CONF: "[global]\ninterfaces = lo eth0;speed=2500,capability=RSS\n"}).settings
    assert [finding.key for finding in value_findings(setting, is_dump=True)] == ["slow-interface"]
    assert {finding.key for finding in value_findings(setting)} == {"unquoted-interface"}


# Modules


@pytest.mark.parametrize(
    ("version", "value", "instead"),
    [
        ("4.17.12", "opendir chmod", "fdopendir fchmod"),
        ("4.17.12", "openat, rename; unlinkat", "openat renameat unlinkat"),
        ("4.17.12", "all !unlink", "all !unlinkat"),
        ("4.22.0", "fsync pwrite", "fsync_send fsync_recv pwrite"),
        ("", "rmdir", "unlinkat"),
    ],
)
@pytest.mark.parametrize("outcome", ["success", "failure"])
def test_operations_that_this_samba_does_not_know_close_the_share(version: str, value: str, instead: str, outcome: str):
    text = f"[global]\nvfs objects = full_audit\nfull_audit:{outcome} = {value}\n[films]\npath = /data\n"
    findings = audited(text, version)
    assert (findings[0].key, findings[0].verdict) == ("unknown-operation", Ruling.HARMFUL)
    assert findings[0].instead == f"full_audit:{outcome} = {instead}"


@pytest.mark.parametrize("value", ["wrote", "mkdir wrote", "renameat, delete"])
def test_an_operation_that_nothing_took_the_place_of_is_corrected_by_a_person(value: str):
    finding = the_one(f"[films]\nvfs objects = full_audit\nfull_audit:success = {value}\n", "unknown-operation")
    assert finding.instead is None


@pytest.mark.parametrize(
    ("version", "value"),
    [
        ("4.17.12", "mkdirat renameat unlinkat create_file"),
        ("4.11.0", "mkdir rename unlink"),
        ("4.17.12", "none mkdir"),
        ("4.17.12", "ALL"),
        ("", "pread pwrite openat"),
    ],
)
def test_operations_that_this_samba_knows(version: str, value: str):
    text = f"[films]\npath = /data\nvfs objects = full_audit\nfull_audit:success = {value}\n"
    assert "unknown-operation" not in keys(text, version)


def test_operations_count_only_where_the_module_is_loaded():
    text = (
        "[global]\nfull_audit:success = mkdir\n[a]\npath = /a\nvfs objects = full_audit\n"
        "[b]\npath = /b\n[c]\npath = /c\nvfs objects = full_audit\nfull_audit:success = mkdirat\n"
    )
    why = the_one(text, "unknown-operation").why
    assert "[a]" in why
    assert "[b]" not in why
    assert "[c]" not in why


def test_a_recording_names_settings_that_close_its_share():
    def kept(**settings: str) -> dict[str, FactValue]:
        facts: dict[str, FactValue] = {
            f"{PARAMETER_PREFIX}share/{name.replace('_', ' ')}": value for name, value in settings.items()
        }
        return facts | {SAMBA_VERSION: "4.17.12"}

    audit = kept(vfs_objects="full_audit") | {f"{PARAMETER_PREFIX}share/full_audit:success": "mkdir"}
    assert [finding.key for finding in harmful_settings(audit)] == ["unknown-operation"]
    assert [finding.key for finding in harmful_settings(kept(kernel_share_modes="Yes"))] == ["kernel-share-modes"]
    assert harmful_settings(kept(kernel_share_modes="No", vfs_objects="full_audit")) == ()


@pytest.mark.parametrize(
    ("option", "modules", "is_loaded"),
    [
        ("recycle:keeptree = yes", "catia", False),
        ("recycle:keeptree = yes", "catia recycle", True),
        ("fruit:metadata = stream", "recycle", False),
        ("shadow:snapdir = .snapshots", "shadow_copy", False),
        ("shadow:snapdir = .snapshots", "shadow_copy2", True),
        ("full_audit:success = mkdirat", "audit", False),
        ("virusfilter:scanner = clamav", "", False),
        ("nfs4:mode = simple", "zfsacl", True),
        ("idmap:cache = 5", "catia", True),
    ],
)
def test_an_option_needs_its_module(option: str, modules: str, is_loaded: bool):
    text = f"[films]\npath = /data\nvfs objects = {modules}\n{option}\n"
    assert ("option-without-module" not in keys(text)) is is_loaded


def test_a_list_of_the_share_takes_the_place_of_the_one_in_global():
    text = "[global]\nvfs objects = fruit streams_xattr\nfruit:model = MacSamba\n[mac]\npath = /m\n"
    assert not {"modules-left-out", "option-without-module"} & keys(text)
    replaced = f"{text}vfs objects = recycle\nfruit:resource = stream\n"
    found = {finding.key: finding for finding in audited(replaced) if finding.section == "mac"}
    assert found["option-without-module"].verdict is Ruling.CONTRADICTORY
    assert found["modules-left-out"].verdict is Ruling.CONTRADICTORY
    assert "modules-left-out" not in keys(f"{text}vfs objects =\n"), "somebody wants none"


@pytest.mark.parametrize(
    ("version", "modules", "key"),
    [
        ("4.17.12", "scannedonly", "missing-module"),
        ("4.17.12", "aio_ratelimit", "missing-module"),
        ("", "netatalk", "missing-module"),
        ("", "recyle", "unknown-module"),
        ("4.22.0", "catia fruit_company", "unknown-module"),
    ],
)
def test_a_module_that_samba_does_not_have_is_named(version: str, modules: str, key: str):
    assert key in keys(f"[films]\npath = /data\nvfs objects = {modules}\n", version)


def test_modules_that_samba_has_are_no_finding():
    known = " ".join(name for name, module in vfs_modules.modules().items() if module.is_in((4, 17)))
    found = keys(f"[films]\npath = /data\nvfs objects = {known}\n")
    assert not {"missing-module", "unknown-module"} & found


@pytest.mark.parametrize(
    ("version", "modules", "is_named"),
    [("4.15.0", "", False), ("4.16.0", "", True), ("", "acl_xattr", True), ("4.17.12", "gpfs", False)],
)
def test_share_modes_of_the_kernel_need_a_module(version: str, modules: str, is_named: bool):
    text = f"[films]\npath = /data\nvfs objects = {modules}\nkernel share modes = yes\n"
    assert ("kernel-share-modes" in keys(text, version)) is is_named


@pytest.mark.parametrize(
    ("lines", "is_named"),
    [
        ("dfree command = /opt/free", True),
        ("dfree command = /opt/free\ndfree cache time = 0", True),
        ("dfree command = /opt/free\ndfree cache time = 60", False),
        ("dfree cache time = 60", False),
    ],
)
def test_a_command_for_the_free_space_needs_a_cache(lines: str, is_named: bool):
    assert ("dfree-command" in keys(f"[films]\npath = /data\n{lines}\n")) is is_named


# Places


def test_a_line_of_global_does_not_hold_for_shares_before_it():
    text = "[a]\npath = /a\n[global]\nuse sendfile = yes\naio read size = 0\n[b]\npath = /b\n"
    assert "global-behind-share" in keys(text)
    assert "global-behind-share" not in keys("[global]\nuse sendfile = yes\n[a]\npath = /a\n")
    assert "global-behind-share" not in keys("[a]\npath = /a\n[global]\ndeadtime = 5\n"), "it is of the server"


def test_a_value_is_that_of_the_share_that_is_copied():
    text = "[a]\npath = /a\nvfs objects = recycle\n[b]\npath = /b\ncopy = a\nrecycle:touch = yes\n"
    assert "option-without-module" not in keys(text)


@pytest.mark.parametrize("name", [" films", "films ", "\tfilms "])
def test_blanks_inside_the_brackets_belong_to_the_name(name: str):
    assert the_one(f"[{name}]\npath = /data\n", "padded-share-name").verdict is Ruling.HARMFUL
    assert "padded-share-name" not in keys("[ global ]\ndeadtime = 3\n[my films]\npath = /data\n")


def test_what_is_refused_is_told_also_where_another_line_sets_it_again():
    assert "refused" in keys("[films]\nread only = perhaps\nread only = no\n")
    assert "refused" not in keys("[films]\nread only = yes\nread only = no\n")


def test_a_mark_of_the_byte_order_costs_the_line_that_begins_with_it():
    mark = "\N{ZERO WIDTH NO-BREAK SPACE}"
    assert keys(f"{mark}[global]\ndeadtime = 3\n") == set()
    assert keys(f"{mark}# comment\n[global]\ndeadtime = 3\n") == set()
    assert "malformed-line" in keys(f"{mark}[films]\npath = /data\n")
    assert "unknown" in keys(f"{mark}deadtime = 3\n")


def test_options_before_a_section_that_begins_again_are_told():
    text = "[a]\npath = /a\nvfs objects = recycle\nrecycle:touch = yes\n[b]\npath = /b\n[a]\nguest ok = no\n"
    assert "forgotten-option" in keys(text)


@pytest.mark.parametrize("line", ["[films", "= yes"])
def test_a_line_at_which_samba_stops_is_harmful(line: str):
    assert the_one(f"[global]\n{line}\ndeadtime = 3\n", "stops-reading").verdict is Ruling.HARMFUL


@pytest.mark.parametrize(
    "value",
    [
        "SO_RCVBUF = 65536",
        "TCP_NODELAY SO_RCVBUF =65536",
        "SO_RCVBUF= 65536",
        "SO_SNDBUF=1 SO_RCVBUF =",
        "IPTOS_LOWDELAY =",
    ],
)
def test_a_blank_in_a_socket_option_is_told_once(value: str):
    found = [finding for finding in audited(f"[global]\nsocket options = {value}\n") if not finding.value.isalpha()]
    misplaced = [finding.key for finding in found if finding.verdict is Ruling.MISPLACED]
    assert misplaced == ["blank-in-socket-option"]


@pytest.mark.parametrize("value", ["SO_RCVBUF=65536", "TCP_NODELAY SO_KEEPALIVE", "TCP_NODELAY,SO_SNDBUF=8192"])
def test_a_socket_option_without_blanks_has_none(value: str):
    assert "blank-in-socket-option" not in keys(f"[global]\nsocket options = {value}\n")


def test_a_number_that_is_no_option_is_told():
    assert "unknown-socket-option" in keys("[global]\nsocket options = TCP_NODELAY 65536\n")


# What closes the server or a share without a word


FILES = {"self": "include = /etc/self\n", "a": "include = /etc/b\n", "b": "workgroup = X\ninclude = /etc/a\n"}


@pytest.mark.parametrize(
    "text",
    [
        f"[films]\npath = /data\ninclude = {CONF}\n",
        "[global]\ninclude = /etc/self\n",
        "[global]\ninclude = /etc/a\n",
        "[films]\npath = /data\ninclude = registry\n",
        "[global]\nworkgroup = X\n[]\npath = /data\n",
        "[global]\nworkgroup = X\n[ ]\npath = /data\n",
    ],
)
def test_a_file_that_samba_refuses_as_a_whole_is_harmful(text: str):
    (stop,) = (finding for finding in audited(text, "4.17.12", **FILES) if finding.key == "stops-reading")
    assert stop.verdict is Ruling.HARMFUL


def test_a_file_that_is_included_twice_is_no_loop():
    text = "[global]\ninclude = /etc/c\n[films]\npath = /data\ninclude = /etc/c\n"
    assert "stops-reading" not in keys(text, c="# nothing\n")


@pytest.mark.parametrize("ports", ["0", "445 65536", "445x", "-1", "", "smb"])
def test_a_port_that_there_is_not_keeps_smbd_from_starting(ports: str):
    assert "refused" in keys(f"[global]\nsmb ports = {ports}\n")


@pytest.mark.parametrize("ports", ["445", "1", "65535", "445, 139", "445 445"])
def test_ports_that_there_are_are_taken(ports: str):
    assert "refused" not in keys(f"[global]\nsmb ports = {ports}\n")


@pytest.mark.parametrize(
    "text",
    [
        "[films]\nread only = no\n",
        "[films]\npath =\nread only = no\n",
        "[printers]\nprintable = yes\n",
        "[films]\ncopy = base\n",
    ],
)
def test_a_share_without_a_path_is_out_of_service(text: str):
    assert "no-path" in keys(f"[base]\nread only = yes\n{text}")


@pytest.mark.parametrize(
    "text",
    [
        "[homes]\nread only = no\n",
        "[films]\nmsdfs proxy = //other/films\n",
        "[nobody]\nbrowseable = no\n",
        "[global]\npath = /data\n[films]\nread only = no\n",
        "[base]\npath = /data\n[films]\ncopy = base\n",
        "[films]\ninclude = /etc/none\n read only = no\n",
    ],
)
def test_a_share_that_needs_no_path_of_its_own_is_whole(text: str):
    assert "no-path" not in keys(text)


@pytest.mark.parametrize(
    ("lowest", "highest", "is_told"),
    [
        ("SMB3_11", "SMB2", True),
        ("SMB2_10", "SMB2_02", True),
        ("SMB3", "SMB3_02", True),
        ("SMB2", "SMB2_10", False),
        ("SMB3_11", "SMB3", False),
        ("SMB2_02", "SMB3_00", False),
        ("SMB3", "default", False),
    ],
)
def test_a_newest_dialect_below_the_oldest_lets_nobody_in(lowest: str, highest: str, is_told: bool):
    text = f"[global]\nserver min protocol = {lowest}\nserver max protocol = {highest}\n"
    assert ("no-dialect" in keys(text)) is is_told


@pytest.mark.parametrize("parameter", ["msdfs root = yes", "msdfs proxy = //other/films"])
@pytest.mark.parametrize("is_off", [True, False])
def test_dfs_of_a_share_needs_that_of_the_server(parameter: str, is_off: bool):
    switch = "host msdfs = no\n" if is_off else ""
    found = keys(f"[global]\n{switch}[films]\npath = /data\n{parameter}\n")
    assert ("dfs-switched-off" in found) is is_off


@pytest.mark.parametrize("modules", ["Recycle", "catia Catia", "ACL_XATTR", "Fruit streams_xattr"])
def test_the_name_of_a_module_is_in_small_letters(modules: str):
    text = f"[films]\npath = /data\nvfs objects = {modules}\n"
    assert the_one(text, "module-letter-case").verdict is Ruling.HARMFUL
    assert "module-letter-case" not in keys(text.lower())


def test_fruit_stands_before_the_module_that_takes_its_streams():
    finding = the_one("[mac]\npath = /m\nvfs objects = catia streams_xattr fruit recycle\n", "streams-before-fruit")
    assert finding.instead == "vfs objects = catia fruit streams_xattr recycle"
    assert "streams-before-fruit" not in keys("[mac]\npath = /m\nvfs objects = catia fruit streams_xattr\n")


# Lists of computers, as each was tried on Samba 4.17.12


@pytest.mark.parametrize(
    "entry",
    [
        "192.168.1",
        "10",
        "192.168.1.0-255",
        "192.168.1.5-192.168.1.9",
        "192.168.1.0/33",
        "192.168.1.0/08",
        "10/8",
        "/8",
        "192.168.1.5:445",
        "smb://192.168.1.5",
        "[192.168.1.5]",
        "192.168.1.300",
        "192.168.1.01",
    ],
)
@pytest.mark.parametrize(("name", "verdict"), [("hosts allow", Ruling.CONTRADICTORY), ("deny hosts", Ruling.RISKY)])
def test_an_entry_that_matches_no_client_is_told(entry: str, name: str, verdict: Ruling):
    assert the_one(f"[films]\npath = /data\n{name} = 127. {entry}\n", "host-of-nobody").verdict is verdict


@pytest.mark.parametrize(
    "value",
    [
        "192.168.1. 127.",
        "192.168.1.0/24, 10.0.0.0/255.0.0.0",
        "192.168.1.* 10.0.0.?",
        "10.0/16 192.168.1/24",
        "10.0.0.0/0xff000000",
        "192.168. EXCEPT 192.168.7.",
        ".0.0.1",
        "ALL",
        "2001:db8::/32 ::1 fe80::1%eth0",
        "@admins",
        "127.0.0.1 localhost",
        "10.0.0.0/0 10.0.0.1/32",
    ],
)
def test_entries_that_match_clients_are_right(value: str):
    found = keys(f"[films]\npath = /data\nhosts allow = {value}\n")
    assert not {"host-of-nobody", "name-without-look-up", "everybody-denied"} & found


def test_a_name_of_a_computer_needs_look_ups():
    text = "[global]\n{}hosts allow = 127. printer.example.com .example.org\n[films]\npath = /data\n"
    assert the_one(text.format(""), "name-without-look-up").verdict is Ruling.CONTRADICTORY
    assert "name-without-look-up" not in keys(text.format("hostname lookups = yes\n"))


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("[global]\nhosts deny = ALL\n", Ruling.HARMFUL),
        ("[global]\ndeny hosts = 0.0.0.0/0\n", Ruling.HARMFUL),
        ("[films]\npath = /data\nhosts deny = *\n", Ruling.CONTRADICTORY),
        ("[global]\nhosts allow = 10.\n[films]\npath = /data\nhosts allow =\nhosts deny = all\n", Ruling.CONTRADICTORY),
    ],
)
def test_a_list_that_denies_everybody_is_told(text: str, verdict: Ruling):
    assert the_one(text, "everybody-denied").verdict is verdict


@pytest.mark.parametrize(
    "text",
    [
        "[global]\nhosts deny = ALL\nhosts allow = 10.\n",
        "[global]\nhosts deny = ALL EXCEPT 10.\n",
        "[global]\nhosts allow = 10.\n[films]\npath = /data\nhosts deny = ALL\n",
        "[global]\nhosts deny = 192.168.7.\n",
    ],
)
def test_a_list_that_lets_some_in_is_right(text: str):
    assert "everybody-denied" not in keys(text)


# Numbers that are not what they look like


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("create mask = 0o775", "0000"),
        ("directory mask = 0x1ff", "0000"),
        ("force create mode = 0668", "0066"),
        ("create mask = 0775 rwx", "0775"),
    ],
)
def test_a_mode_ends_at_what_is_no_octal_digit(line: str, read: str):
    assert f"reads {read}," in the_one(f"[films]\npath = /data\n{line}\n", "cut-number").why
    assert "cut-number" not in keys("[films]\npath = /data\ncreate mask = 02775\ndirectory mask = 775\n")


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        ("max log size = 5M", ("5120 if", "5242880 if")),
        ("max log size = 50k", ("50 if", "51200 if")),
        ("max disk size = 500M", ("500 if", "524288000 if")),
        ("max disk size = 4K", ("4096 if",)),
    ],
)
def test_a_size_that_is_counted_in_a_unit_has_no_other(line: str, numbers: tuple[str, ...]):
    finding = the_one(f"[global]\n{line}\n", "unit-of-unit")
    assert finding.instead is None, "only who wrote it knows which is meant"
    assert all(number in finding.what_to_do for number in numbers)
    assert "unit-of-unit" not in keys(
        "[global]\nmax log size = 5000\nmax disk size = 2000\nmin receivefile size = 16K\n"
    )


@pytest.mark.parametrize("level", ["0x5", "1 vfs:high", "2x"])
def test_a_log_level_is_of_decimal_digits(level: str):
    assert "cut-number" in keys(f"[global]\nlog level = {level}\n")
    assert "cut-number" not in keys("[global]\nlog level = 1 full_audit:1@/var/log/audit.log\n")


def test_a_class_of_messages_that_nobody_knows_logs_nothing():
    assert "unknown-log-class" in keys("[global]\nlog level = 1 msg:10\n")
    assert "unknown-log-class" not in keys("[global]\nlog level = 1 fruit:2 shadow_copy:1 SMB2:1 dsdb_json_audit:5\n")


def test_a_buffer_below_nothing_is_a_very_large_one():
    found = keys("[global]\nsocket options = SO_SNDBUF=-1\n")
    assert "large-fixed-buffer" in found
    assert "pinned-send-buffer" not in found


@pytest.mark.parametrize("value", ["300.1.2.3/24", "192.168.1.10-20", "lo 10.0.0"])
def test_an_address_of_an_interface_that_is_none_is_told(value: str):
    assert "no-interface" in keys(f"[global]\ninterfaces = {value}\n")
    assert "no-interface" not in keys("[global]\ninterfaces = lo eth* 10.0.0.1 10.0.0.0/255.255.0.0 ::1\n")


def test_a_backend_of_passwords_that_samba_does_not_have_is_told():
    assert the_one("[global]\npassdb backend = mysql:main\n", "unknown-backend").verdict is Ruling.RISKY
    assert "unknown-backend" not in keys('[global]\npassdb backend = ldapsam:"ldap://a ldap://b"\n')


@pytest.mark.parametrize(
    ("proxy", "is_told"),
    [
        ("junk", True),
        ("/junk", True),
        (r"\\junk\ ", True),
        ("/", True),
        (r"\other\films", False),
        ("//other/films,//third/films", False),
        ("other/films/deep", False),
    ],
)
def test_a_proxy_names_a_share_of_another_server(proxy: str, is_told: bool):
    found = keys(f"[films]\npath = /data\nmsdfs root = yes\nmsdfs proxy = {proxy}\n")
    assert ("proxy-of-nothing" in found) is is_told


@pytest.mark.parametrize(
    ("path", "is_told"),
    [
        ("~/films", True),
        ("$HOME/films", True),
        (r"\\nas\films", True),
        (r"C:\films", True),
        ("file:///films", True),
        ("/films", False),
        ("films", False),
        ("/srv/~films", False),
        ("%H/films", False),
    ],
)
def test_a_path_of_another_system_is_no_folder(path: str, is_told: bool):
    assert ("foreign-path" in keys(f"[films]\npath = {path}\n")) is is_told


def test_an_interface_in_brackets_is_skipped():
    assert "no-interface" in keys("[global]\ninterfaces = lo [::1]\n")
    assert "no-interface" not in keys("[global]\ninterfaces = lo ::1\n")


@pytest.mark.parametrize(
    ("line", "key", "is_told"),
    [
        ("guest account =", "no-guest-account", True),
        ("guest account = nobody", "no-guest-account", False),
        ("max open files = 100", "too-few-files-to-start", True),
        ("max open files = 101", "too-few-files-to-start", False),
        ("security = ads", "ads-without-realm", True),
        ("security = ads\nrealm = EXAMPLE.COM", "ads-without-realm", False),
        ("security = user", "ads-without-realm", False),
        ("unix charset = nosuch", "unknown-charset", True),
        ("unix charset = ISO8859-1", "unknown-charset", False),
        ("unix charset = UTF8_NFD", "unknown-charset", False),
        ("winbind separator = ++", "long-separator", True),
        ("winbind separator = +", "long-separator", False),
        ("logging = nosuch", "unknown-log-backend", True),
        ("logging = file@2 journal", "unknown-log-backend", True),
        ("logging = syslog@1 file@2 ringbuf:size=100@3 systemd", "unknown-log-backend", False),
    ],
)
def test_what_keeps_smbd_or_its_users_out(line: str, key: str, is_told: bool):
    assert (key in keys(f"[global]\n{line}\n")) is is_told


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("lock directory", "no-folder-of-smbd"),
        ("state directory", "no-folder-of-smbd"),
        ("cache directory", "no-folder-of-smbd"),
        ("ncalrpc dir", "no-folder-of-smbd"),
        ("private dir", "no-folder-of-smbd"),
        ("log file", "no-log-folder"),
    ],
)
def test_a_missing_folder_of_smbd_is_told_with_what_smbd_does(name: str, key: str):
    conf = read_conf(CONF, {CONF: f"[global]\n{name} = /nowhere/samba\n"})
    for missing_folders, is_told in ((frozenset({"/nowhere/samba"}), True), (frozenset({"/nowhere"}), False)):
        findings = judge(AuditedServer(conf=conf, path=CONF, missing_folders=missing_folders))
        assert (key in {finding.key for finding in findings}) is is_told


@pytest.mark.parametrize(
    ("name", "value", "key"),
    [
        ("guest account", "ftp", "no-accounts"),
        ("root directory", "/nowhere", "no-accounts"),
        ("passdb backend", "tdbsam:/nowhere/users.tdb", "no-accounts"),
        ("username map", "/nowhere/users", "no-username-map"),
    ],
)
def test_what_the_server_does_not_have_for_its_users_is_told(name: str, value: str, key: str):
    conf = read_conf(CONF, {CONF: f"[global]\n{name} = {value}\n"})
    for missing, is_told in ((f"{name} = {value}", True), (f"{name} = other", False)):
        findings = judge(AuditedServer(conf=conf, path=CONF, facts={ACCOUNTS_MISSING: missing}))
        assert (key in {finding.key for finding in findings}) is is_told


@pytest.mark.parametrize(
    ("missing", "key"),
    [
        ("eth9; eth8", "no-interface-to-listen"),
        ("eth9", "missing-interface"),
        ("eth7", None),
    ],
)
def test_interfaces_that_the_server_does_not_have_are_told_with_what_smbd_does(missing: str, key: str | None):
    conf = read_conf(CONF, {CONF: '[global]\ninterfaces = eth9, "eth8;speed=1000000000"\nbind interfaces only = yes\n'})
    findings = judge(AuditedServer(conf=conf, path=CONF, facts={INTERFACES_MISSING: missing}))
    found = {finding.key for finding in findings} & {"no-interface-to-listen", "missing-interface"}
    assert found == ({key} if key else set())


def test_an_account_of_another_share_is_told_as_that_of_its_line():
    conf = read_conf(CONF, {CONF: "[data]\npath = /srv\nforce user = gone\n"})
    missing = {ACCOUNTS_MISSING: "force user = gone"}
    of_target = {"smb.conf/share/force user": "gone"}
    for facts, is_told in ((missing, True), ({}, False), (missing | of_target, False)):
        findings = judge(AuditedServer(conf=conf, path=CONF, facts=facts))
        assert ("missing-account" in {finding.key for finding in findings}) is is_told
