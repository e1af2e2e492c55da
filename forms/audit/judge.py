"""Judge known settings by ``forms/tuning/data/judgements.toml`` and by rules that hold for every parameter."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from forms.tuning import catalogue, smb_conf
from forms.tuning.catalogue import CatalogueEntry, Status
from forms.tuning.smb_conf import PARAMETER_PREFIX
from storage.looks import AuditedSetting, AuditFinding, Ruling
from storage.records import FactValue

MEASURED = "measured on Samba 4.17.12"
SMB1 = frozenset({"nt1", "lanman2", "lanman1", "core", "coreplus"})
OTHERS_MAY_WRITE = 0o002
SAMPLE_NAMES = ("report.docx", "photo.jpg", "archive.tar.gz", "notes.txt")
MOST_NAMES = 5
LATEST_SAMBA = (4, 25)
"""Assumed for an unknown version, so that nothing is called too new."""
_TRAILING_COMMENT = re.compile(r"\s[#;](\s|$)")


ORDER = tuple(Ruling)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingJudgement:
    """One row of ``judgements.toml``, which explains the fields."""

    key: str
    verdict: Ruling
    cost: int
    why: str
    instead: str
    parameter: str = ""
    fact: str = ""
    word: str = ""
    part: int = 0
    """Which number of a fact that has several, from 1; 0 for the only one."""
    present: bool = False
    values: tuple[str, ...] = ()
    below: str = ""
    above: str = ""
    samba_from: str = ""
    when: Mapping[str, Sequence[str]] = field(default_factory=dict)
    when_global: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unless: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unless_word: str = ""
    when_fact: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unless_fact: Mapping[str, Sequence[str]] = field(default_factory=dict)
    price: str = ""
    price_source: str = MEASURED
    advised_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedServer:
    """What is known of a server; empty fields judge nothing."""

    conf: smb_conf.SmbConfFile | None = None
    path: str = ""
    facts: Mapping[str, FactValue] = field(default_factory=dict)
    global_names: frozenset[str] = frozenset()
    share_names: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    modes: Mapping[str, int] = field(default_factory=dict)
    names_in_shares: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def samba_version(self) -> tuple[int, ...]:
        return _version(str(self.facts.get("samba.version", ""))) or LATEST_SAMBA


def judge(server: AuditedServer) -> tuple[AuditFinding, ...]:
    found = [*_of_facts(server), *_of_files(server)]
    if server.conf is not None:
        found += _of_settings(server, server.conf)
    return tuple(sorted(found, key=lambda one: (ORDER.index(one.verdict), -one.cost, one.file, one.line)))


def harmful_settings(facts: Mapping[str, FactValue]) -> tuple[AuditFinding, ...]:
    settings = []
    for scope in ("global", "share"):
        prefix = f"{PARAMETER_PREFIX}{scope}/"
        settings += [
            AuditedSetting(section=scope, name=name.removeprefix(prefix), value=str(value))
            for name, value in facts.items()
            if name.startswith(prefix) and value != ""  # an empty one is a default that testparm lists
        ]
    server, conf = AuditedServer(facts=facts), _Configuration(smb_conf.SmbConfFile(settings=tuple(settings)))
    found = [
        finding
        for setting in settings
        for finding in (*_judged(server, conf, setting, _meant(setting)), _hides(server, setting))
        if finding is not None and finding.verdict is Ruling.HARMFUL
    ]
    return tuple(sorted(found, key=lambda finding: -finding.cost))


@cache
def judgements() -> tuple[SettingJudgement, ...]:
    return tuple(_judgement(row) for row in smb_conf.toml_data("judgements.toml")["judgement"])


@cache
def _by_parameter() -> Mapping[str, tuple[SettingJudgement, ...]]:
    found: dict[str, tuple[SettingJudgement, ...]] = {}
    for one in judgements():
        if one.parameter:
            key = smb_conf.parameter_key(one.parameter)
            found[key] = (*found.get(key, ()), one)
    return found


def _judgement(row: Mapping[str, Any]) -> SettingJudgement:
    lists = {name: tuple(row[name]) for name in ("values", "advised_by") if name in row}
    texts = {name: " ".join(row[name].split()) for name in ("why", "price") if name in row}
    return SettingJudgement(**{**row, **lists, **texts, "verdict": Ruling(row["verdict"])})


class _Configuration:
    def __init__(self, conf: smb_conf.SmbConfFile) -> None:
        self.settings = conf.settings
        self.last = {(one.section, smb_conf.parameter_key(one.name)): one for one in conf.settings}
        self.shares = tuple(dict.fromkeys(one.section for one in conf.settings if one.section != "global"))

    def in_effect(self, section: str, name: str) -> str:
        """A parameter's value in a section: its own, [global]'s or the default; "" where unknown."""
        key = smb_conf.parameter_key(name)
        setting = self.last.get((section, key)) or self.last.get(("global", key))
        if setting is not None:
            return _meant(setting)
        entry = _entry(smb_conf.spelling(name).name)
        return (entry.default or "") if entry else _DEFAULTS.get(smb_conf.spelling(name).name, "")

    def sections_of(self, setting: AuditedSetting) -> Sequence[str]:
        """Where a line acts: its section; in [global] every share that does not set the parameter itself."""
        parameter = smb_conf.spelling(setting.name).parameter
        if setting.section != "global" or parameter is None or parameter.scope == "global":
            return [setting.section]
        key = smb_conf.parameter_key(setting.name)
        return [share for share in self.shares if (share, key) not in self.last] or ["global"]


def _of_settings(server: AuditedServer, file: smb_conf.SmbConfFile) -> Iterator[AuditFinding]:
    conf = _Configuration(file)
    for setting in conf.settings:
        winner = conf.last[setting.section, smb_conf.parameter_key(setting.name)]
        if winner is not setting:
            if not smb_conf.same_value(smb_conf.spelling(setting.name).name, _meant(setting), _meant(winner)):
                where = f"Line {winner.line}" if winner.file == setting.file else f"{winner.file}:{winner.line}"
                why = f"{where} sets it again, to {winner.value}: this line does nothing."
                yield _finding(setting, "set-twice", Ruling.CONTRADICTORY, 30, why, instead="")
            continue
        yield from _of_setting(server, conf, setting)
    for name in file.missing_includes:
        why = "There is no such file to read, and Samba does not say so."
        yield AuditFinding(
            key="missing-include", verdict=Ruling.MISPLACED, cost=40, setting="include", value=name, why=why,
            what_to_do="Create the file or delete the line.", file=server.path,
        )  # fmt: skip
    for line in file.malformed:
        yield AuditFinding(
            key="malformed-line", verdict=Ruling.MISPLACED, cost=30, setting=line[:60],
            why="The line has no equals sign: Samba skips it.", what_to_do="Complete or delete it.", file=server.path,
        )  # fmt: skip


def _of_setting(server: AuditedServer, conf: _Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    if ":" in setting.name:
        yield from _judged(server, conf, setting, setting.value)
        return
    if general := _general(server, conf, setting):
        yield general
        return
    value = _meant(setting)
    if found := [*_judged(server, conf, setting, value), *_of_words(server, setting)]:
        yield from found
    elif hiding := _hides(server, setting):
        yield hiding
    elif _is_default(smb_conf.spelling(setting.name).name, value):
        yield _finding(setting, "default", Ruling.USELESS, 0, "It is the default.", instead="")


def _general(server: AuditedServer, conf: _Configuration, setting: AuditedSetting) -> AuditFinding | None:
    spelled = smb_conf.spelling(setting.name)
    entry = _entry(spelled.name)
    known = _known(server.global_names | server.share_names)
    is_too_new = bool(entry and entry.since and _version(entry.since) > server.samba_version)
    is_known = (
        smb_conf.parameter_key(setting.name) in known if known else spelled.parameter is not None and not is_too_new
    )
    if entry and not is_known and (is_too_new or entry.status is Status.REMOVED):
        if is_too_new:
            why = f"Samba knows it since {entry.since}; this one skips the line."
            return _finding(setting, "too-new", Ruling.USELESS, 5, why, instead="")
        later = f" In its place: {', '.join(entry.replaced_by)}." if entry.replaced_by else ""
        why = f"Removed in Samba {entry.removed_in}; this one skips the line.{later}"
        return _finding(setting, "removed", Ruling.USELESS, 5, why, instead="", advised_by=entry.sources)
    if not is_known:
        close = smb_conf.suggestions(setting.name)
        meant = f" Did you mean {' or '.join(close)}?" if close else ""
        return _finding(
            setting, "unknown", Ruling.MISPLACED, 50, f"Samba knows no such parameter.{meant}", instead=None
        )
    if _TRAILING_COMMENT.search(setting.value):
        plain = _TRAILING_COMMENT.split(setting.value)[0].strip()
        why = "smb.conf has no comments at the end of a line: what follows belongs to the value."
        return _finding(setting, "trailing-comment", Ruling.HARMFUL, 92, why, instead=f"{setting.name} = {plain}")
    if refused := smb_conf.refusal(spelled.name, setting.value):
        why = f"{refused}: Samba stops reading smb.conf at this line."
        return _finding(setting, "refused", Ruling.HARMFUL, 93, why, instead="")
    if setting.section != "global" and spelled.parameter is not None and spelled.parameter.scope == "global":
        why = f"It holds for the whole server: in [{setting.section}] it does nothing."
        return _finding(setting, "wrong-section", Ruling.MISPLACED, 45, why, instead=None, move_to="[global]")
    oldest = smb_conf.tidy_value("server min protocol", conf.in_effect("global", "server min protocol"))
    if entry and entry.status is Status.SMB1_ONLY and oldest not in SMB1:
        why = "It is about SMB1 alone, which this server does not speak."
        return _finding(setting, "smb1-only", Ruling.USELESS, 4, why, instead="", advised_by=entry.sources)
    return None


@cache
def _known(names: frozenset[str]) -> frozenset[str]:
    return frozenset(smb_conf.parameter_key(name) for name in names)


def _finding(
    setting: AuditedSetting,
    key: str,
    verdict: Ruling,
    cost: int,
    why: str,
    *,
    instead: str | None,
    word: str = "",
    move_to: str = "",
    price: str = "",
    price_source: str = "",
    advised_by: tuple[str, ...] = (),
) -> AuditFinding:
    if move_to:
        remedy = f"Move it to {move_to}."
    elif instead is None:
        remedy = "Correct or delete the line."
    elif word and instead:
        remedy = f"Take {word} out of the line."
    else:
        remedy = f"Write `{instead}`." if instead else "Delete the line."
    spelled = smb_conf.spelling(setting.name)
    return AuditFinding(
        key=key, verdict=verdict, cost=cost, setting=setting.name, value=setting.value, why=why, what_to_do=remedy,
        file=setting.file, line=setting.line, section=setting.section,
        parameter=spelled.name if spelled.parameter else "", word=word, instead=instead, price=price,
        price_source=price_source, advised_by=advised_by,
    )  # fmt: skip


def _judged(server: AuditedServer, conf: _Configuration, setting: AuditedSetting, value: str) -> Iterator[AuditFinding]:
    for one in _by_parameter().get(smb_conf.parameter_key(setting.name), ()):
        about = _tested(one, setting.name, value)
        if about is None or not _holds_there(one, server, conf, setting):
            continue
        shown, number = about
        instead = _without_word(setting, one.word) if one.word and not one.instead else one.instead
        yield _finding(
            setting, one.key, one.verdict, one.cost, one.why.format(value=shown, number=number), instead=instead,
            word=one.word if not one.instead else "", price=one.price,
            price_source=one.price_source if one.price else "", advised_by=one.advised_by,
        )  # fmt: skip


def _tested(one: SettingJudgement, name: str, value: str) -> tuple[str, str] | None:
    if one.unless_word and one.unless_word in dict(_words(value.replace(",", " "))):
        return None
    words = dict(_words(value))
    if one.word:
        if one.word.lower() not in words:
            return None
        value = words[one.word.lower()]
    elif one.part:
        parts = value.split()
        value = parts[one.part - 1] if len(parts) >= one.part else ""
    canonical = "" if one.word else smb_conf.spelling(name).name
    if one.values and not any(smb_conf.same_value(canonical, value, each) for each in one.values):
        return None
    number = number_of(canonical, value)
    if one.below and (number is None or number >= (number_of("", one.below) or 0)):
        return None
    if one.above and (number is None or number <= (number_of("", one.above) or 0)):
        return None
    if not (one.values or one.below or one.above or one.present):
        return None
    return value, "" if number is None else f"{number:g}" if number < 1e6 else f"{number:.0f}"


def _holds_there(one: SettingJudgement, server: AuditedServer, conf: _Configuration, setting: AuditedSetting) -> bool:
    if one.samba_from and server.samba_version < _version(one.samba_from):
        return False
    places = conf.sections_of(setting)

    def has(section: str, wanted: Mapping[str, Sequence[str]]) -> Iterator[bool]:
        for name, values in wanted.items():
            there = conf.in_effect(section, name)
            yield any(smb_conf.same_value(smb_conf.spelling(name).name, there, each) for each in values)

    return (
        any(all(has(place, one.when)) for place in places)
        and all(has("global", one.when_global))
        and any(not any(has(place, one.unless)) for place in places)
        and _facts_hold(one, server.facts)
    )


def _facts_hold(one: SettingJudgement, facts: Mapping[str, FactValue]) -> bool:
    def has(wanted: Mapping[str, Sequence[str]]) -> Iterator[bool]:
        return (str(facts.get(name, "")).lower() in map(str.lower, values) for name, values in wanted.items())

    return all(has(one.when_fact)) and not any(has(one.unless_fact))


_DEFAULTS = {
    "smb2 leases": "yes", "read only": "yes", "clustering": "no", "allow insecure wide links": "no",
    "smb1 unix extensions": "yes",
}  # fmt: skip


def _of_words(server: AuditedServer, setting: AuditedSetting) -> Iterator[AuditFinding]:
    name = smb_conf.spelling(setting.name).name
    if name == "socket options":
        for word, _ in _words(setting.value):
            if word.upper() not in SOCKET_OPTIONS:
                close = [option for option in SOCKET_OPTIONS if option.endswith(word.upper())]
                meant = f" Did you mean {close[0]}? Leave it out all the same." if close else ""
                yield _finding(
                    setting, "unknown-socket-option", Ruling.MISPLACED, 50, f"{word.upper()} is no option.{meant}",
                    instead=_without_word(setting, word), word=word,
                )  # fmt: skip
    if name == "vfs objects" and server.modules:
        for word, _ in _words(setting.value):
            module = word.partition(":")[0]
            if "/" not in module and module not in server.modules:
                yield _finding(
                    setting, "missing-module", Ruling.HARMFUL, 98,
                    f"There is no module {module}: every connection to the share fails.",
                    instead=_without_word(setting, word), word=word,
                )  # fmt: skip


SOCKET_OPTIONS = (
    "SO_KEEPALIVE", "SO_REUSEADDR", "SO_BROADCAST", "TCP_NODELAY", "TCP_KEEPCNT", "TCP_KEEPIDLE", "TCP_KEEPINTVL",
    "IPTOS_LOWDELAY", "IPTOS_THROUGHPUT", "SO_REUSEPORT", "SO_SNDBUF", "SO_RCVBUF", "SO_SNDLOWAT", "SO_RCVLOWAT",
    "SO_SNDTIMEO", "SO_RCVTIMEO", "TCP_FASTACK", "TCP_QUICKACK", "TCP_NODELAYACK", "TCP_KEEPALIVE_THRESHOLD",
    "TCP_KEEPALIVE_ABORT_THRESHOLD", "TCP_DEFER_ACCEPT", "TCP_USER_TIMEOUT",
)  # fmt: skip
"""The words that smbd knows (lib/util/util_net.c)."""


def _hides(server: AuditedServer, setting: AuditedSetting) -> AuditFinding | None:
    if smb_conf.spelling(setting.name).name != "veto files":
        return None
    patterns = [pattern.lower() for pattern in setting.value.split("/") if pattern.strip()]
    sweeping = [pattern for pattern in patterns if all(fnmatchcase(name, pattern) for name in SAMPLE_NAMES)]
    if sweeping:
        why = f"The pattern {sweeping[0]} hides every file with a dot in its name, for reading and writing."
        kept = "/".join(pattern for pattern in setting.value.split("/") if pattern.lower() not in sweeping)
        instead = f"{setting.name} = {kept}" if kept.strip("/") else ""
        return _finding(
            setting, "veto-hides-all", Ruling.HARMFUL, 97, why, instead=instead, advised_by=("IBM Redpaper 2004",)
        )
    shares = server.names_in_shares
    names = shares.get(setting.section, ()) if setting.section != "global" else [n for s in shares.values() for n in s]
    hidden = [name for name in names if any(fnmatchcase(name.lower(), pattern) for pattern in patterns)]
    if not hidden:
        return None
    more = f" and {len(hidden) - MOST_NAMES} more" if len(hidden) > MOST_NAMES else ""
    quoted = ", ".join(hidden[:MOST_NAMES]) + more
    return _finding(
        setting, "veto-hides-files", Ruling.RISKY, 40, f"Hides {quoted}: clients are told that there is no such file.",
        instead=None,
    )  # fmt: skip


def _of_facts(server: AuditedServer) -> Iterator[AuditFinding]:
    for one in judgements():
        if not one.fact or one.fact not in server.facts:
            continue
        about = _tested(one, "", _plain(str(server.facts[one.fact])))
        if about is None or not _facts_hold(one, server.facts):
            continue
        shown, number = about
        yield AuditFinding(
            key=one.key, verdict=one.verdict, cost=one.cost, setting=one.fact, value=str(server.facts[one.fact]),
            why=one.why.format(value=shown, number=number), what_to_do=f"Set or use: {one.instead}.",
            price=one.price, price_source=one.price_source if one.price else "", advised_by=one.advised_by,
        )  # fmt: skip


def _of_files(server: AuditedServer) -> Iterator[AuditFinding]:
    for path, mode in server.modes.items():
        if mode & OTHERS_MAY_WRITE:
            yield AuditFinding(
                key="writable-configuration", verdict=Ruling.HARMFUL, cost=1000, setting=path, value=f"{mode:04o}",
                why="Any local user can change it, and with it what smbd does as root.",
                what_to_do=f"Run: chmod o-w {path}; then look for lines that you did not write.", file=path,
            )  # fmt: skip


def _plain(text: str) -> str:
    return " ".join(text.replace(",", " ").split())


def _words(value: str) -> Iterator[tuple[str, str]]:
    for word in _plain(value).lower().split():
        name, _, number = word.partition("=")
        yield name, number or "1"


def _without_word(setting: AuditedSetting, word: str) -> str:
    kept = [each for each in setting.value.split() if each.partition("=")[0].strip(",").lower() != word.lower()]
    return f"{setting.name} = {' '.join(kept)}" if kept else ""


def number_of(name: str, value: str) -> float | None:
    """The number in a value: plain, a size such as 64K, or a log level's first; else None."""
    text = smb_conf.tidy_value(name, value)
    if name == "log level":
        text = re.split(r"[\s@]", text)[0].removeprefix("all:")
    try:
        return float(text)
    except ValueError:
        return None


def _meant(setting: AuditedSetting) -> str:
    return smb_conf.opposite_value(setting.value) if smb_conf.spelling(setting.name).opposite else setting.value


def _is_default(name: str, value: str) -> bool:
    entry = _entry(name)
    return entry is not None and entry.default is not None and smb_conf.same_value(name, value, entry.default)


@cache
def _entry(name: str) -> CatalogueEntry | None:
    key = smb_conf.parameter_key(name)
    return next((one for one in catalogue.about(name) if smb_conf.parameter_key(one.parameter) == key), None)


def _version(text: str) -> tuple[int, ...]:
    match = re.match(r"(\d+(?:\.\d+)*)", text)
    return tuple(int(part) for part in match[1].split(".")) if match else ()
