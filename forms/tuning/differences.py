"""Differences between two series: settings, and facts that do not vary by themselves."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from forms import wording
from forms.tuning.catalogue import CatalogueEntry, entries
from forms.tuning.smb_conf import CONF_STATE, ConfState, human_name, is_volatile, same_value, spelling
from storage.plan import Settings
from storage.records import Command, Facts, JSONValue, Series

GLOBAL = "smb.conf/global/"
SHARE = "smb.conf/share/"

CLIENT_PARTS = ("name", "version", "dialect", "signing", "encryption", "block_bytes", "in_flight")
_REQUIRED = {
    "settings.sign": "client: signing required",
    "settings.encrypt": "client: encryption required",
    "settings.drop_cache": "client: page cache dropped",
}
_SHOWN_BY = {"settings.sign": "client.signing", "settings.encrypt": "client.encryption"}
_OF_PUTS = "smb.put_block_bytes"
_KNOWN_LATER = ("size_bytes", "link_bits_per_second")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A setting or fact that differs; None where a series lacks it."""

    name: str
    base: JSONValue
    other: JSONValue

    @property
    def parameter(self) -> str | None:
        return parameter_of(self.name.removeprefix("server."))

    @property
    def label(self) -> str:
        """For people: ``strict sync``, ``server: kernel``."""
        if self.parameter:
            return self.parameter
        if self.name in _REQUIRED:
            return _REQUIRED[self.name]
        side, _, name = self.name.partition(".")
        if side not in {"client", "server", "path"} or not name:
            return human_name(self.name)
        return human_name(name) if side == "path" else f"{side}: {human_name(name)}"

    def __str__(self) -> str:
        return f"{self.parameter or self.name} {shown('', self.base)} -> {shown('', self.other)}"


def differences(base: Series, other: Series) -> tuple[Difference, ...]:
    """Differing settings, then facts, by name; not those that vary by themselves or that only one side saw."""
    agreed = CLIENT_PARTS[1:]
    connected = all(any(getattr(series.client, part) for part in agreed) for series in (base, other))
    not_known = () if connected else tuple(f"client.{part}" for part in agreed)
    may_be_absent: tuple[str, ...] = _KNOWN_LATER
    if base.target.protocol != other.target.protocol:  # what a protocol does not have is no setting of it
        may_be_absent += tuple(f"client.{part}" for part in CLIENT_PARTS)
    found = [
        Difference(name=name, base=mine, other=theirs)
        for (name, mine), (_, theirs) in zip(_settings(base), _settings(other), strict=True)
        if mine != theirs and not (name in may_be_absent and None in (mine, theirs)) and name not in not_known
    ]
    for group in sorted({*base.environment, *other.environment}):
        mine, theirs = base.environment.get(group, {}), other.environment.get(group, {})
        found += [
            Difference(name=f"{group}.{name}", base=mine.get(name), other=theirs.get(name))
            for name in _differing_facts(mine, theirs)
            if name != _OF_PUTS or Command.PUT in {base.command, other.command}
        ]
    return tuple(found)


_PROTECTION = {"client.encryption": "encrypted", "client.signing": "signed"}
_OWN_VERSION = "client.version"
_MOST_NAMED = 4


def session_difference(differing: Sequence[Difference]) -> str | None:
    """How the session changed, such as ``the session is now encrypted``; else None."""
    said = []
    for found in differing:
        if found.name in _PROTECTION:
            word, off = _PROTECTION[found.name], (None, "none")
            now = "no longer" if found.other in off else "now"
            how = f" by {shown('', found.other)}" if found.base not in off and found.other not in off else ""
            said.append(f"{now} {word}{how}")
    dialect = next((found for found in differing if found.name == "client.dialect"), None)
    spoken = f"speaks SMB {shown('', dialect.other)} instead of {shown('', dialect.base)}" if dialect else ""
    parts = [f"is {' and '.join(said)}" if said else "", spoken]
    return f"the session {' and '.join(filter(None, parts))}" if any(parts) else None


def differences_of_repeat(first: Series, again: Series) -> tuple[Difference, ...]:
    """Why ``again`` is no repeat of ``first``: all differences but sharebench's version."""
    return tuple(found for found in differences(first, again) if found.name != _OWN_VERSION)


def differences_before(first: Series, again: Series) -> tuple[Difference, ...]:
    """:func:`differences_of_repeat` for a series known only by its login: absent values do not differ."""
    logged_in = first.client.dialect and again.client.dialect
    return tuple(
        found
        for found in differences_of_repeat(first, again)
        if None not in (found.base, found.other) or (logged_in and found.name in _PROTECTION)
    )


def same_path(one: Series, another: Series) -> bool:
    return (
        one.command is another.command
        and replace(one.target, user=None, domain=None) == replace(another.target, user=None, domain=None)
        and replace(one.client, version="") == replace(another.client, version="")
    )


def is_repeat(first: Series, again: Series) -> bool:
    return same_path(first, again) and not differences_of_repeat(first, again)


def told(differing: Iterable[Difference]) -> list[Difference]:
    """What is told to people: the session shows whether signing or encryption was required."""
    every = list(differing)
    names = {one.name for one in every}
    return [one for one in every if _SHOWN_BY.get(one.name) not in names]


def prose(differing: Iterable[Difference]) -> str:
    every = [f"{one.label} {shown(one.name, one.base)} → {shown(one.name, one.other)}" for one in told(differing)]
    more = [f"{len(every) - _MOST_NAMED} more"] if len(every) > _MOST_NAMED else []
    return wording.listed([*every[:_MOST_NAMED], *more])


def effective(facts: Facts, parameter: str, *, in_share: bool = True) -> str | None:
    """The value smbd uses in the target's share, or in [global] alone; None where unknown."""
    value = facts.get(SHARE + parameter) if in_share else None
    if value is None:
        value = facts.get(GLOBAL + parameter)
    return None if value is None else str(value)


def values_that_matter(facts: Facts) -> list[tuple[CatalogueEntry, str, bool]]:
    """What was read of the settings worth trying, in the catalogue's order: entry, value, whether it is the default."""
    first = {entry.parameter: entry for entry in reversed(entries()) if entry.worth_trying}
    values = ((first[name], effective(facts, name, in_share=first[name].scope != "global")) for name in reversed(first))
    return [
        (entry, value, same_value(entry.parameter, value, entry.default or ""))
        for entry, value in values
        if value is not None
    ]


def parameter_of(fact: str) -> str | None:
    for prefix in (GLOBAL, SHARE):
        if fact.startswith(prefix):
            return spelling(fact.removeprefix(prefix)).name
    return None


def _settings(series: Series) -> Iterator[tuple[str, JSONValue]]:
    client = series.client
    yield "command", series.command.value
    yield "target", wording.place(series.target)
    for part in ("user", "domain"):
        yield f"target.{part}", getattr(series.target, part)
    sizes = sorted({run.size_bytes for run in series.measured()})
    yield "size_bytes", sizes[0] if len(sizes) == 1 else ", ".join(map(str, sizes)) or None
    yield "link_bits_per_second", series.link_bits_per_second
    for part in CLIENT_PARTS:
        yield f"client.{part}", getattr(client, part)
    settings = series.plan.settings if series.plan else Settings()
    for part in ("sign", "encrypt", "drop_cache"):
        yield f"settings.{part}", getattr(settings, part)


_SEGMENT, _HALVED_FROM = "mtu.segment_bytes", 2**14
"""Linux sends no more than half of the window at once, so what it calls the segment of a loopback varies by itself."""


def _differing_facts(base: Facts, other: Facts) -> Iterator[str]:
    names = [] if base is other else [name for name in {*base, *other} if base.get(name) != other.get(name)]
    if not names:
        return
    seen_by_both = {_family(n) for n in base} & {_family(n) for n in other}
    unread = ConfState.UNREADABLE in (base.get(CONF_STATE), other.get(CONF_STATE))
    for name in sorted(names):
        parameter = parameter_of(name)
        if is_volatile(name) or _family(name) not in seen_by_both or (unread and name == "smb.conf.path"):
            continue
        sizes = (facts.get(name) for facts in (base, other) if name == _SEGMENT)
        if any(isinstance(size, int) and size >= _HALVED_FROM for size in sizes):
            continue
        if parameter is None or _parameter_differs(name, parameter, base, other):
            yield name


def _parameter_differs(fact: str, parameter: str, base: Facts, other: Facts) -> bool:
    in_share = fact.startswith(SHARE)
    mine, theirs = effective(base, parameter, in_share=in_share), effective(other, parameter, in_share=in_share)
    if (
        not in_share
        and SHARE + parameter in {*base, *other}
        and _parameter_differs(SHARE + parameter, parameter, base, other)
    ):
        return False  # the share has the same setting, and that one is told
    if mine is None or theirs is None:
        return mine is not theirs
    return not same_value(parameter, mine, theirs)


def _family(name: str) -> str:
    return name.partition("/")[0] if "/" in name else name.partition(".")[0]


_TYPED_FROM = 2**14
"""Bytes; smaller ones, as an MTU, are known by their digits."""


def shown(name: str, value: JSONValue) -> str:
    """A value for people: ``64K`` of 65,536 bytes, ``1 Gb/s``."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if name.endswith("_bits_per_second"):
            return wording.link_rate(value)
        if name.endswith("_bytes") and value >= _TYPED_FROM:
            return wording.typed_size(int(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "(not there)" if value is None else "(empty)" if value == "" else wording.plain(str(value))
