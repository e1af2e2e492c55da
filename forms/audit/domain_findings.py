"""Findings of a member of a domain and of its names: ranges of idmap, the default backend, servers of WINS, character
sets that clients cannot have.

They are what testparm calls an error; here it is said of which line.
"""

import re
from collections.abc import Iterator, Mapping

from forms.audit.configuration import Configuration
from forms.audit.line_finding import line_finding
from forms.tuning import smb_conf
from storage.looks import AuditedSetting, AuditFinding, Ruling

_IDMAP = re.compile(r"idmap config\s+(?P<domain>.+?)\s*:\s*(?P<option>.+)", re.IGNORECASE)
_RANGE = re.compile(r"(\d+)\s*-\s*(\d+)")
_DEFAULT_DOMAIN = "*"
_DEFAULT_BACKENDS = frozenset({"tdb", "tdb2", "ldap", "autorid", "hash"})
"""Those that may number users of any domain (testparm)."""
_BACKENDS_WITHOUT_RANGE = frozenset({"nss"})
_LDAP_HOST = re.compile(r"ldapsam:\s*\"?ldap://([^\s/:\"]+)", re.IGNORECASE)
_OWN_HOSTS = frozenset({"localhost", "127.0.0.1"})
_MEMBERS = frozenset({"ads", "domain"})
"""Values of ``security``."""
_LEAST_OF_AUTORID = 200_000
"""Numbers: twice its default rangesize (testparm)."""
_MOST_LETTERS_OF_NETBIOS = 15


def domain_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """Of a parameter of Samba's own."""
    name = smb_conf.spelling(setting.name).name
    value = setting.value.strip()
    is_member_line = name == "server role" and smb_conf.tidy_value(name, value) == "member server"
    if is_member_line or (name == "security" and value.lower() in _MEMBERS):
        yield from _default_range_findings(conf, setting)

    if name == "password server" and value not in {"", "*"} and _is_member(conf):
        reason = (
            "Samba finds the domain controllers by itself; with this line it asks these alone, also when they are down."
        )
        advice = "Delete the line, if DNS on this machine knows the domain."
        yield line_finding(setting, "named-controllers", Ruling.WORTH_TRYING, 25, reason, instead=None, advice=advice)

    if name == "ldap ssl" and smb_conf.same_value(name, value, "no"):
        yield from _plain_ldap_findings(conf, setting)

    if name == "wins support" and smb_conf.same_value(name, value, "yes") and conf.in_effect("global", "wins server"):
        reason = "wins server is set too: nmbd does not start, since it cannot be a WINS server and ask another one."
        advice = "Delete one of the two lines."
        yield line_finding(setting, "two-wins-servers", Ruling.CONTRADICTORY, 61, reason, instead=None, advice=advice)

    if name == "dos charset" and value.upper() in {"UTF8", "UTF-8"}:
        reason = "It is no character set of DOS: Samba takes CP850 in its place, and testparm calls it an error."
        yield line_finding(setting, "utf8-for-dos", Ruling.MISPLACED, 31, reason, instead="")

    if name == "netbios name":
        yield from _netbios_findings(conf, setting, value)


def idmap_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """Of an option such as ``idmap config EXAMPLE : range``."""
    match = _IDMAP.fullmatch(setting.name)
    if match is None or setting.section != "global" or not _is_member(conf):
        return

    domain = match["domain"].upper()
    option = smb_conf.squeeze(match["option"])
    if option == "backend":
        yield from _backend_findings(conf, setting, domain)
    if option == "range":
        yield from _range_findings(conf, setting, domain)


def _is_member(conf: Configuration) -> bool:
    """Whether the server is a member of a domain: another one does not ask idmap."""
    role = smb_conf.tidy_value("server role", conf.in_effect("global", "server role"))
    return conf.in_effect("global", "security").lower() in _MEMBERS or role == "member server"


def _backend_findings(conf: Configuration, setting: AuditedSetting, domain: str) -> Iterator[AuditFinding]:
    backend = setting.value.strip().lower()
    if domain == _DEFAULT_DOMAIN and backend not in _DEFAULT_BACKENDS:
        reason = f"{backend} cannot number users of any domain: testparm calls it an error as the default."
        advice = "Write tdb here, and this backend for your domain, each with a range of its own."
        yield line_finding(setting, "default-backend", Ruling.CONTRADICTORY, 62, reason, instead=None, advice=advice)
        return

    if conf.is_partly_unread or backend in _BACKENDS_WITHOUT_RANGE:
        return
    if domain != _DEFAULT_DOMAIN and domain not in _ranges(conf):
        reason = f"No line sets idmap config {domain} : range: users of {domain} get no number, and cannot log in."
        yield line_finding(setting, "no-range", Ruling.CONTRADICTORY, 64, reason, instead=None, advice="Set its range.")

    realm = conf.in_effect("global", "realm").upper()
    workgroup = conf.in_effect("global", "workgroup").upper()
    if domain == realm and domain != workgroup:
        reason = f"It names the realm, and winbindd looks for the short name, {workgroup}: the line does nothing."
        advice = f"Write `idmap config {workgroup} : backend = {setting.value}`, and its other lines so."
        yield line_finding(setting, "realm-as-domain", Ruling.CONTRADICTORY, 65, reason, instead=None, advice=advice)


def _range_findings(conf: Configuration, setting: AuditedSetting, domain: str) -> Iterator[AuditFinding]:
    match = _RANGE.fullmatch(setting.value.strip())
    if match is None or int(match[1]) >= int(match[2]):
        reason = "It is no range from a lower to a higher number, such as 10000-999999: winbindd passes over it."
        yield line_finding(setting, "no-range", Ruling.CONTRADICTORY, 64, reason, instead=None)
        return

    low = int(match[1])
    high = int(match[2])
    backend = conf.in_effect("global", setting.name.rpartition(":")[0] + ": backend").lower()
    has_own_size = conf.in_effect("global", setting.name.rpartition(":")[0] + ": rangesize")
    if backend == "autorid" and not has_own_size and high - low + 1 < _LEAST_OF_AUTORID:
        reason = (
            "autorid gives each domain 100,000 numbers and needs twice as many at least: winbindd refuses this range."
        )
        advice = "Write a larger range, such as 1000000-19999999."
        yield line_finding(setting, "small-range", Ruling.CONTRADICTORY, 63, reason, instead=None, advice=advice)
    for other, (other_low, other_high) in _ranges(conf).items():
        # Of two that overlap, the line of one is named: of a domain and the default, that of the domain.
        is_named_there = other != _DEFAULT_DOMAIN and other > domain
        if domain in {other, _DEFAULT_DOMAIN} or is_named_there:
            continue
        if low <= other_high and other_low <= high:
            whose = "all other domains" if other == _DEFAULT_DOMAIN else other
            reason = (
                f"It overlaps with the range of {whose}, {other_low}-{other_high}: two users may get one number, and"
                " with it the same files."
            )
            advice = "Give each a range of its own, before anybody owns files by these numbers."
            yield line_finding(setting, "ranges-overlap", Ruling.CONTRADICTORY, 68, reason, instead=None, advice=advice)


def _ranges(conf: Configuration) -> Mapping[str, tuple[int, int]]:
    """The ranges of idmap by domain, in capital letters."""
    ranges: dict[str, tuple[int, int]] = {}
    for setting in conf.settings:
        match = _IDMAP.fullmatch(setting.name)
        if match is None or setting.section != "global" or smb_conf.squeeze(match["option"]) != "range":
            continue
        numbers = _RANGE.fullmatch(setting.value.strip())
        if numbers is not None:
            ranges[match["domain"].upper()] = (int(numbers[1]), int(numbers[2]))
    return ranges


def _plain_ldap_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    backend = conf.in_effect("global", "passdb backend").strip('"')
    host = _LDAP_HOST.search(backend)
    if host is None or host[1].lower() in _OWN_HOSTS:
        return
    reason = f"Hashes of passwords, with which one can log in, pass between this server and {host[1]} unencrypted."
    advice = "Write `ldap ssl = start tls`, or ldaps:// in passdb backend."
    yield line_finding(setting, "plain-passdb", Ruling.RISKY, 51, reason, instead=None, advice=advice)


def _default_range_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    has_old_lines = conf.in_effect("global", "idmap uid") or conf.in_effect("global", "idmap gid")
    if conf.is_partly_unread or has_old_lines or _DEFAULT_DOMAIN in _ranges(conf):
        return
    reason = "No line sets idmap config * : range, which testparm calls an error: users get no numbers, and no login."
    advice = (
        "Add `idmap config * : backend = tdb` and `idmap config * : range = 3000-7999`, and a range for your domain."
    )
    yield line_finding(setting, "no-default-range", Ruling.CONTRADICTORY, 63, reason, instead=None, advice=advice)


def _netbios_findings(conf: Configuration, setting: AuditedSetting, name: str) -> Iterator[AuditFinding]:
    if len(name) > _MOST_LETTERS_OF_NETBIOS:
        reason = f"A name of NetBIOS has at most {_MOST_LETTERS_OF_NETBIOS} letters, and this one {len(name)}."
        yield line_finding(setting, "long-netbios-name", Ruling.MISPLACED, 37, reason, instead=None)
    workgroup = conf.in_effect("global", "workgroup")
    if name and "%" not in name and name.lower() == workgroup.lower():
        reason = "The server and its workgroup must not have one name: clients of NetBIOS find neither."
        yield line_finding(setting, "named-as-workgroup", Ruling.CONTRADICTORY, 36, reason, instead=None)
