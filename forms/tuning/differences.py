"""Differences between two series: their settings, and the facts of their environment that do not vary by themselves.

Each has a name with the side in front: ``client.dialect``, ``server.smb.conf/share/strict sync``, ``path.link.duplex``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from forms import link_share, wording
from forms.tuning import fact_names
from forms.tuning.smb_conf import same_value, spelling
from storage.plan import Settings
from storage.records import Command, Facts, JSONValue, Series, measured_from

GLOBAL = "smb.conf/global/"
SHARE = "smb.conf/share/"
"""How the names of facts begin that are parameters in effect, of the server and of the share."""

CLIENT_PARTS = ("name", "version", "dialect", "signing", "encryption", "block_bytes", "in_flight")
_AGREED_PARTS = CLIENT_PARTS[1:]
"""What a client tells only once it is connected."""

_FLUSHED = "flushed"
"""None for a get, which has nothing to flush."""
_REQUESTS = "requests"
"""In the order of the file, or at random."""
_RANDOM_SECONDS = "random_seconds"
"""None where runs are transfers, which end by themselves."""
_REQUIRED = {
    "settings.sign": "client: signing required",
    "settings.encrypt": "client: encryption required",
    "settings.drop_cache": "client: page cache dropped",
    "settings.like": "client: imitates",
    _FLUSHED: "put flushed to the disk",
    _REQUESTS: "requests",
    _RANDOM_SECONDS: "length of a run",
}
"""What people read in place of the names of settings."""
_SHOWN_BY = {"settings.sign": "client.signing", "settings.encrypt": "client.encryption"}
"""Settings of which the session shows the effect."""
_OF_PUTS = "smb.put_block_bytes"
"""A fact of the path that says nothing of a get."""
_KNOWN_LATER: tuple[str, ...] = ("size_bytes", "link_bits_per_second")
"""Settings that a series has only after its first run: one that lacks them does not differ by them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A setting or fact that differs, and its value in either series; None where a series lacks it."""

    name: str
    base: JSONValue
    other: JSONValue

    @property
    def parameter(self) -> str | None:
        """The parameter of Samba that it is about; None where it is about something else."""
        return parameter_of(self.name.removeprefix("server."))

    @property
    def label(self) -> str:
        """For people: ``strict sync``, ``server: kernel``."""
        if self.parameter:
            return self.parameter
        if self.name in _REQUIRED:
            return _REQUIRED[self.name]
        side, _, name = self.name.partition(".")
        if self.name in _SHAPERS:
            return f"{fact_names.human_name(name)} on the measuring machine"
        if side not in {"client", "server", "path"} or not name:
            return fact_names.human_name(self.name)
        return fact_names.human_name(name) if side == "path" else f"{side}: {fact_names.human_name(name)}"

    def __str__(self) -> str:
        return f"{self.parameter or self.name} {value_text('', self.base)} -> {value_text('', self.other)}"


def differences(base: Series, other: Series) -> tuple[Difference, ...]:
    """Differing settings, then facts, by name; not those that vary by themselves, or that only one series saw."""
    return (*_differing_settings(base, other), *_differences_of_facts(base, other))


def _has_connected(series: Series) -> bool:
    return any(getattr(series.client, part) for part in _AGREED_PARTS)


def _differing_settings(base: Series, other: Series) -> Iterator[Difference]:
    # A series that never connected says nothing of what is agreed on with the server.
    unknown: tuple[str, ...] = ()
    if not (_has_connected(base) and _has_connected(other)):
        unknown = tuple(f"client.{part}" for part in _AGREED_PARTS)

    # A link that carried more than it can was given wrongly, and says nothing of what carried the bytes.
    is_possible = _can_be_its_link(base) and _can_be_its_link(other)
    if not is_possible or _is_link_corrected(base, other):
        unknown += (_LINK_SPEED,)

    # What a protocol does not have is no setting of it.
    may_be_absent = (*_KNOWN_LATER, _FLUSHED, _RANDOM_SECONDS)
    if base.target.protocol != other.target.protocol:
        may_be_absent += tuple(f"client.{part}" for part in CLIENT_PARTS)

    for (name, base_value), (_, other_value) in zip(_settings(base), _settings(other), strict=True):
        is_absent = None in (base_value, other_value)
        if base_value == other_value or name in unknown or (is_absent and name in may_be_absent):
            continue
        yield Difference(name=name, base=base_value, other=other_value)


def _differences_of_facts(base: Series, other: Series) -> Iterator[Difference]:
    moves_by_put = Command.PUT in {base.command, other.command}
    for group in sorted({*base.environment, *other.environment}):
        base_facts = base.environment.get(group, {})
        other_facts = other.environment.get(group, {})
        for name in _differing_facts(base_facts, other_facts):
            if name != _OF_PUTS or moves_by_put:
                yield Difference(name=f"{group}.{name}", base=base_facts.get(name), other=other_facts.get(name))


_OFF = (None, "none")
"""Values of a protection that the session does not have."""
_PROTECTION = {"client.encryption": "encrypted", "client.signing": "signed"}
_OWN_VERSION = "client.version"
_MOST_NAMED = 4
"""As many differences are told by name; of more, how many there are."""


def session_difference(differing: Sequence[Difference]) -> str | None:
    """How the session changed, such as ``the session is now encrypted``; else None."""
    protections = [_protection_change(difference) for difference in differing if difference.name in _PROTECTION]
    dialect = next((difference for difference in differing if difference.name == "client.dialect"), None)

    clauses = []
    if protections:
        clauses.append(f"is {' and '.join(protections)}")
    if dialect:
        clauses.append(f"speaks SMB {value_text('', dialect.other)} instead of {value_text('', dialect.base)}")
    return f"the session {' and '.join(clauses)}" if clauses else None


def _protection_change(difference: Difference) -> str:
    """``no longer signed``, ``now encrypted``, ``now encrypted by aes-128-gcm`` where it was by another cipher."""
    word = _PROTECTION[difference.name]
    was_off = difference.base in _OFF
    is_off = difference.other in _OFF
    if is_off:
        return f"no longer {word}"
    if was_off:
        return f"now {word}"
    return f"now {word} by {value_text('', difference.other)}"


def differences_of_repeat(first: Series, again: Series) -> tuple[Difference, ...]:
    """Why ``again`` is no repeat of ``first``: all differences but sharebench's version."""
    return tuple(difference for difference in differences(first, again) if difference.name != _OWN_VERSION)


def differences_before(first: Series, again: Series) -> tuple[Difference, ...]:
    """:func:`differences_of_repeat` where only the login is known of ``again``: absent values do not differ."""
    # A session without signing or encryption may have no value for it: of two sessions that is a difference.
    logged_in = first.client.dialect and again.client.dialect
    return tuple(
        difference
        for difference in differences_of_repeat(first, again)
        if None not in (difference.base, difference.other) or (logged_in and difference.name in _PROTECTION)
    )


def same_path(first: Series, second: Series) -> bool:
    """Whether both go to one place by one client, whoever logged in and whatever the client's version."""
    if first.command is not second.command:
        return False
    if measured_from(first.environment) != measured_from(second.environment):
        return False
    if replace(first.target, user=None, domain=None) != replace(second.target, user=None, domain=None):
        return False
    return replace(first.client, version="") == replace(second.client, version="")


def is_repeat(first: Series, again: Series) -> bool:
    """Whether the second series measured the same in the same environment."""
    return same_path(first, again) and not differences_of_repeat(first, again)


_OWN_PLACES = frozenset(
    {
        "binddns dir",
        "cache directory",
        "lock directory",
        "log file",
        "ncalrpc dir",
        "netbios name",
        "ntp signd socket directory",
        "passdb backend",
        "pid directory",
        "private dir",
        "smb passwd file",
        "smb ports",
        "state directory",
        "username map",
        "usershare path",
        "winbindd socket directory",
    }
)
"""Parameters that any two daemons have to differ in: where they keep their files, and by what they are reached."""
_CONF_PATH = "server.smb.conf.path"


def _is_own_place(difference: Difference) -> bool:
    return difference.name == _CONF_PATH or difference.parameter in _OWN_PLACES


_SAMBA_VERSION = "server.samba.version"


def settings_of_one_version(differing: Sequence[Difference]) -> list[Difference]:
    """The parameters that only one of two versions of Samba has, but for those of the catalogue.

    None of them where both sides have the same version.
    """
    if not any(difference.name == _SAMBA_VERSION for difference in differing):
        return []
    return [
        difference
        for difference in differing
        if None in (difference.base, difference.other) and _is_of_no_transfer(difference)
    ]


def _is_of_no_transfer(difference: Difference) -> bool:
    """Whether it is a parameter of Samba that the catalogue does not have: it has those that act on transfers."""
    return difference.parameter is not None and difference.parameter not in _parameters_of_catalogue()


@cache
def _parameters_of_catalogue() -> frozenset[str]:
    # Loaded for two versions of Samba only: other comparisons end sooner without it.
    from forms.tuning import catalogue

    return frozenset(entry.parameter for entry in catalogue.entries())


def told_differences(differing: Iterable[Difference]) -> list[Difference]:
    """What is told to people: one cause once.

    The session shows whether signing or encryption was required, and one speed of a link is told once. Of two servers
    it is not told that each keeps its files in a place of its own.
    """
    all_differences = list(differing)
    names = {difference.name for difference in all_differences}
    if "target" in names:
        all_differences = [difference for difference in all_differences if not _is_own_place(difference)]
    if _SAMBA_VERSION in names:
        left_out = settings_of_one_version(all_differences)
        all_differences = [difference for difference in all_differences if difference not in left_out]
        # Of dozens of other defaults those that are known to act on transfers come first.
        all_differences.sort(key=_is_of_no_transfer)
    untold = {name for name in names if _SHOWN_BY.get(name) in names}
    untold |= _speeds_told_otherwise({difference.name: difference for difference in all_differences})
    return [difference for difference in all_differences if difference.name not in untold]


def _speeds_told_otherwise(by_name: Mapping[str, Difference]) -> set[str]:
    """The names of speeds of the link that another difference says too: the shaper is told before what it makes."""
    given_rate = by_name.get(_LINK_SPEED)
    seen_rate = by_name.get(_SEEN_SPEED)
    shaper = by_name.get(_SHAPER_SPEED)
    untold: set[str] = set()
    if given_rate and seen_rate and (given_rate.base, given_rate.other) == (seen_rate.base, seen_rate.other):
        untold.add(_LINK_SPEED)
    if seen_rate and shaper:
        # A shaper that was there on one side only is named by itself, and the link has its speed.
        is_shaped_throughout = (seen_rate.base, seen_rate.other) == (shaper.base, shaper.other)
        untold.add(_SEEN_SPEED if is_shaped_throughout else _SHAPER_SPEED)
    return untold


def differences_prose(differing: Iterable[Difference]) -> str:
    """``block 64K → 1M and strict sync yes → no``; of many the first few."""
    texts = []
    for difference in told_differences(differing):
        base = value_text(difference.name, difference.base)
        other = value_text(difference.name, difference.other)
        texts.append(f"{difference.label} {base} → {other}")
    return listed_few(texts)


def listed_few(texts: Sequence[str]) -> str:
    """As prose lists them; of many the first four, and how many more there are."""
    more = [f"{len(texts) - _MOST_NAMED} more"] if len(texts) > _MOST_NAMED else []
    return wording.listed([*texts[:_MOST_NAMED], *more])


def effective(facts: Facts, parameter: str, *, in_share: bool = True) -> str | None:
    """The value smbd uses in the target's share, or in [global] alone; None where unknown."""
    value = facts.get(SHARE + parameter) if in_share else None
    if value is None:
        value = facts.get(GLOBAL + parameter)
    return None if value is None else str(value)


def parameter_of(fact: str) -> str | None:
    """The parameter of Samba that the fact is the value of; None for other facts."""
    for prefix in (GLOBAL, SHARE):
        if fact.startswith(prefix):
            return spelling(fact.removeprefix(prefix)).name
    return None


def _settings(series: Series) -> Iterator[tuple[str, JSONValue]]:
    """The settings of a series with their names, for every series the same names in the same order."""
    yield "command", series.command.value
    yield "target", wording.place(series.target)
    yield _FLUSHED, series.flushed if series.command is Command.PUT else None
    yield _REQUESTS, requests_text(series)
    yield _RANDOM_SECONDS, series.plan.counts.random_seconds if series.plan else None
    for part in ("user", "domain"):
        yield f"target.{part}", getattr(series.target, part)
    yield "size_bytes", _sizes(series)
    yield _LINK_SPEED, series.link_bits_per_second
    for part in CLIENT_PARTS:
        yield f"client.{part}", getattr(series.client, part)
    settings = series.plan.settings if series.plan else Settings()
    for part in ("sign", "encrypt", "drop_cache", "like"):
        yield f"settings.{part}", getattr(settings, part)
    path_facts = series.environment.get("path", {})
    for hook in fact_names.HOOKS:
        yield hook, path_facts.get(hook, "none")


_LINK_SPEED = "link_bits_per_second"
"""The setting: what is taken as the speed of the link."""

_SEEN_SPEED = "path.link.rate_bits_per_second"
"""That of the interface here, or of its shaper."""

_SHAPER_SPEED = "path.link.shaper_bits_per_second"
_SHAPERS = frozenset({"path.link.shaper", _SHAPER_SPEED})
"""Facts of the machine that measures, which people would look for at the server."""


def replaced_between(differing: Iterable[Difference]) -> tuple[Difference, ...]:
    """Those that say that hardware, the link or a version was replaced: the first side cannot be measured again."""
    all_differences = list(differing)
    # Two servers stand beside each other: nothing of the one was replaced by the other.
    if any(difference.name == "target" for difference in all_differences):
        return ()

    replaced = []
    for difference in all_differences:
        _, _, fact = difference.name.partition(".")
        if difference.name == _LINK_SPEED or fact_names.is_replaced(fact):
            replaced.append(difference)
    return tuple(replaced)


def requests_text(series: Series) -> str:
    """In which order a series asks for the bytes of its file, and what its random requests do."""
    if not series.is_random:
        return "in order"
    read_percent = series.plan.counts.read_percent if series.plan else None
    return "at random" if read_percent is None else f"at random, {read_percent} % reads"


def _can_be_its_link(series: Series) -> bool:
    """Whether the average of a series fits through the link speed that it has, if it has one."""
    return link_share.is_possible_link(series.rates(), series.link_bits_per_second)


_SEEN_LINK_SPEEDS = ("link.shaper_bits_per_second", "link.rate_bits_per_second")
"""Facts of the path that tell how fast its link is, the one that holds first."""


def _is_link_corrected(base: Series, other: Series) -> bool:
    """Whether both saw one link speed on the path, and what one of them was given is that.

    Then the other was given a wrong one, which says nothing of the path: it only divides.
    """
    base_speed = _seen_link_speed(base)
    given_speeds = {base.link_bits_per_second, other.link_bits_per_second}
    return base_speed is not None and base_speed == _seen_link_speed(other) and base_speed in given_speeds


def _seen_link_speed(series: Series) -> JSONValue:
    path_facts = series.environment.get("path", {})
    return next((path_facts[name] for name in _SEEN_LINK_SPEEDS if path_facts.get(name)), None)


def _sizes(series: Series) -> JSONValue:
    """The size of the files that were moved, or all sizes where there are several; None where there is none."""
    sizes = sorted(series.file_sizes())
    if len(sizes) == 1:
        return sizes[0]
    return ", ".join(map(str, sizes)) or None


_SEGMENT = "mtu.segment_bytes"
"""The size of TCP's segments on the path."""
_HALVED_FROM = 2**14
"""Linux sends no more than half of the window at once, so what it calls the segment of a loopback varies by itself."""


def _differing_facts(base: Facts, other: Facts) -> Iterator[str]:
    """The names of facts of one side that differ, in order."""
    if base is other:
        return
    differing_names = [name for name in {*base, *other} if base.get(name) != other.get(name)]
    names = [name for name in differing_names if not fact_names.is_volatile(name)]
    if not names:
        return

    seen_by_both = {_family(name) for name in base} & {_family(name) for name in other}
    conf_states = (base.get(fact_names.CONF_STATE), other.get(fact_names.CONF_STATE))
    is_conf_unread = fact_names.ConfState.UNREADABLE in conf_states
    for name in sorted(names):
        if _family(name) not in seen_by_both:
            continue
        # Where the file could not be read on one side, the path there is only one that was tried.
        if is_conf_unread and name == "smb.conf.path":
            continue
        if name == _SEGMENT and any(_is_halved_segment(facts.get(name)) for facts in (base, other)):
            continue
        parameter = parameter_of(name)
        if parameter is None or _parameter_differs(name, parameter, base, other):
            yield name


def _is_halved_segment(size: JSONValue) -> bool:
    return isinstance(size, int) and size >= _HALVED_FROM


def _parameter_differs(fact: str, parameter: str, base: Facts, other: Facts) -> bool:
    """Whether Samba takes the values of the parameter as different, in the share or in [global] as the fact is."""
    in_share = fact.startswith(SHARE)
    share_fact = SHARE + parameter
    if not in_share and share_fact in {*base, *other} and _parameter_differs(share_fact, parameter, base, other):
        return False  # the share has the same setting, and that one is told

    base_value = effective(base, parameter, in_share=in_share)
    other_value = effective(other, parameter, in_share=in_share)
    if base_value is None or other_value is None:
        return base_value is not other_value
    return not same_value(parameter, base_value, other_value)


@lru_cache(maxsize=4096)
def _family(fact: str) -> str:
    """What a fact is about: that it was seen on one side only is no difference, unless others of its family were."""
    separator = "/" if "/" in fact else "."
    family, _, _ = fact.partition(separator)
    return family


_TYPED_FROM = 2**14
"""Bytes; smaller ones, as an MTU, are known by their digits."""


def value_text(name: str, value: JSONValue) -> str:
    """A value for people: ``64K`` of 65,536 bytes, ``1 Gb/s``."""
    if value is None:
        return "(not there)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if name.endswith("_bits_per_second"):
            return wording.link_rate(value)
        if name.endswith("_bytes") and value >= _TYPED_FROM:
            return wording.typed_size(int(value))
    return "(empty)" if value == "" else wording.plain(str(value))
