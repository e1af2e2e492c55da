"""The judgements of ``forms/tuning/data/judgements.toml``, and which values each of them is about."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from forms.tuning import log_levels, smb_conf, smb_values
from storage.looks import Ruling
from storage.records import FactValue

MEASURED = "measured on Samba 4.17.12"
"""Where a price comes from that names no source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingJudgement:
    """One row of ``judgements.toml``: what is said of certain values of a setting, or of a fact of the server.

    Here it is asked whether a value is one of those (``judged_value``), and whether the facts are (``facts_hold``); the
    conditions on other parameters and on the version of Samba are for `forms.audit.judge`, which has the configuration.
    """

    # What is said
    key: str
    verdict: Ruling
    cost: int
    """How much it takes, to sort the findings of one verdict by; 100 is most."""
    reason: str
    """Why, with ``{value}`` and ``{number}`` for the value that is judged."""
    instead: str | None
    """The line to write, or what to do about a fact; empty to delete the line, or only the word. None where a person
    has to decide, by the advice.
    """
    added_word: str
    """What to write after the word, in place of ``instead``."""
    advice: str
    """What to do about a line that protects something, or that users need; empty where the line is edited."""
    price: str
    """What it costs, measured or from a source; empty where that is not known."""
    price_source: str
    advised_by: tuple[str, ...]
    """Who recommended it once."""

    # Which value it is about: of a parameter or of a fact, the other one is empty
    parameter: str
    """Of smb.conf, in any spelling."""
    fact: str
    word: str
    """A word of the value, whose value is what follows its equals sign; empty for the whole value."""
    part: int
    """Which number of a fact that has several, from 1; 0 for the only one."""

    # Which values are judged: those that meet each test that the row has
    present: bool
    """Whether any value is judged: for a row without other tests."""
    values: tuple[str, ...]
    """It is one of these; empty for no such test."""
    below: str
    """It is below this number or size, such as 64K; empty for no such test."""
    above: str
    """It is above this one."""
    mode_bits: str
    """It is an octal mode with one of these bits; empty for no such test."""
    names: tuple[str, ...]
    """It is a list of users and groups with one of these, in small letters; empty for no such test."""
    other_names: tuple[str, ...]
    """It is a list of users and groups with another one than these; empty for no such test."""

    # On which conditions: other parameters or facts, each with the values that it may have
    samba_from: str
    """The first version of Samba for which it holds; empty for all."""
    when: Mapping[str, Sequence[str]]
    """Parameters of the same section or of [global], which must have one of these values."""
    when_global: Mapping[str, Sequence[str]]
    """Parameters of [global], which must."""
    unless: Mapping[str, Sequence[str]]
    """Parameters of the same section or of [global], which must not."""
    when_somewhere: Mapping[str, Sequence[str]]
    """Parameters that must have one of these values in at least one section."""
    unless_somewhere: Mapping[str, Sequence[str]]
    """Parameters that must have none of these values in any section."""
    when_word: Mapping[str, str]
    """Parameters of the same section or of [global], which must have this word."""
    unless_above: Mapping[str, str]
    """Parameters of the same section or of [global], which must not be above this number or size."""
    unless_word: str
    """A word that must not be in the value."""
    when_set: tuple[str, ...]
    """Parameters of the same section or of [global], which must have any value."""
    unless_set: tuple[str, ...]
    """Parameters of the same section or of [global], which must have none."""
    when_fact: Mapping[str, Sequence[str]]
    """Facts of the server, which must have one of these values."""
    unless_fact: Mapping[str, Sequence[str]]
    """Facts of the server, which must not."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "SettingJudgement":
        return cls(
            key=row["key"],
            verdict=Ruling(row["verdict"]),
            cost=row["cost"],
            reason=_in_one_line(row["why"]),
            instead=row.get("instead"),
            added_word=row.get("added_word", ""),
            advice=_in_one_line(row.get("advice", "")),
            parameter=row.get("parameter", ""),
            fact=row.get("fact", ""),
            word=row.get("word", ""),
            part=row.get("part", 0),
            present=row.get("present", False),
            values=tuple(row.get("values", ())),
            below=row.get("below", ""),
            above=row.get("above", ""),
            mode_bits=row.get("mode_bits", ""),
            names=tuple(row.get("names", ())),
            other_names=tuple(row.get("other_names", ())),
            samba_from=row.get("samba_from", ""),
            when=row.get("when", {}),
            when_global=row.get("when_global", {}),
            unless=row.get("unless", {}),
            when_somewhere=row.get("when_somewhere", {}),
            unless_somewhere=row.get("unless_somewhere", {}),
            when_word=row.get("when_word", {}),
            unless_above=row.get("unless_above", {}),
            unless_word=row.get("unless_word", ""),
            when_set=tuple(row.get("when_set", ())),
            unless_set=tuple(row.get("unless_set", ())),
            when_fact=row.get("when_fact", {}),
            unless_fact=row.get("unless_fact", {}),
            price=_in_one_line(row.get("price", "")),
            price_source=row.get("price_source", MEASURED),
            advised_by=tuple(row.get("advised_by", ())),
        )

    @property
    def source_of_price(self) -> str:
        return self.price_source if self.price else ""

    @property
    def depends_on_other_lines(self) -> bool:
        conditions = (self.when, self.when_global, self.when_somewhere, self.when_word, self.when_set)
        exceptions = (self.unless, self.unless_somewhere, self.unless_above, self.unless_set)
        return any((*conditions, *exceptions))

    def reason_for(self, judged: "JudgedValue") -> str:
        reason = self.reason.format(value=judged.text, number=judged.number)
        if judged.written:
            reason += f" smbd reads {judged.text} from {judged.written}: only digits are allowed here, and no unit."
        return reason

    def facts_hold(self, facts: Mapping[str, FactValue]) -> bool:
        """Whether the facts of a server meet the judgement's conditions."""
        if not all(_has_fact(facts, name, values) for name, values in self.when_fact.items()):
            return False
        return not any(_has_fact(facts, name, values) for name, values in self.unless_fact.items())

    def judged_value(self, name: str, value: str) -> "JudgedValue | None":
        """The part of a setting's or fact's value that the judgement is about; None where it does not judge it.

        ``name`` is that of the setting, "" for a fact.
        """
        words = dict(words_of(value))
        if self.unless_word and self.unless_word in words:
            return None

        canonical_name = smb_conf.spelling(name).name
        written = ""
        if self.word:
            if self.word.lower() not in words:
                return None
            value = words[self.word.lower()]
            if canonical_name == "socket options":
                written = value
                value = str(_taken_by_kernel(smb_values.read_by_atoi(written)))
            canonical_name = ""  # what follows a word is not compared as the parameter's own values are
        elif self.part:
            parts = value.split()
            value = parts[self.part - 1] if len(parts) >= self.part else ""

        number = number_of(canonical_name, value)
        if not self._judges(canonical_name, value, number):
            return None
        return JudgedValue(value, _number_text(number), written if written != value else "")

    def _judges(self, canonical_name: str, value: str, number: float | None) -> bool:
        """Whether the value, and the number in it, meet all tests of the row; a row without any judges nothing."""
        if self.values and not any(smb_conf.same_value(canonical_name, value, judged) for judged in self.values):
            return False
        if self.below and (number is None or number >= (number_of("", self.below) or 0)):
            return False
        if self.above and (number is None or number <= (number_of("", self.above) or 0)):
            return False
        if self.mode_bits and not _has_bits(value, self.mode_bits):
            return False

        names = names_of(value) if self.names or self.other_names else frozenset()
        if self.names and names.isdisjoint(self.names):
            return False
        if self.other_names and names.issubset(self.other_names):
            return False

        has_test = self.values or self.below or self.above or self.mode_bits or self.names or self.other_names
        return bool(has_test) or self.present


@dataclass(frozen=True, slots=True)
class JudgedValue:
    """The value that a judgement is about, as texts for its reason."""

    text: str
    number: str
    """The number in it; empty where it has none."""
    written: str = ""
    """What smbd reads the value from, where it is written otherwise; empty where it is not."""


def _taken_by_kernel(number: int) -> int:
    """A number of a socket option as the kernel takes it: a size below 0 is a very large one."""
    return number if number >= 0 else number + 2**32


def _number_text(number: float | None) -> str:
    if number is None:
        return ""
    # From a million on, `g` would write an exponent.
    return f"{number:g}" if number < 1e6 else f"{number:.0f}"


def _has_fact(facts: Mapping[str, FactValue], name: str, values: Sequence[str]) -> bool:
    return str(facts.get(name, "")).lower() in map(str.lower, values)


@cache
def judgements() -> tuple[SettingJudgement, ...]:
    rows = smb_conf.toml_data("judgements.toml")["judgement"]
    return tuple(SettingJudgement.from_row(row) for row in rows)


def judgements_of(parameter: str) -> tuple[SettingJudgement, ...]:
    """The judgements about a parameter, in any spelling."""
    return _judgements_by_parameter().get(smb_conf.parameter_key(parameter), ())


@cache
def _judgements_by_parameter() -> Mapping[str, tuple[SettingJudgement, ...]]:
    by_parameter: dict[str, tuple[SettingJudgement, ...]] = {}
    for judgement in judgements():
        if judgement.parameter:
            key = smb_conf.parameter_key(judgement.parameter)
            by_parameter[key] = (*by_parameter.get(key, ()), judgement)
    return by_parameter


def is_protection(name: str) -> bool:
    """Whether a parameter, by any of its names, decides who gets in, what is recorded or what others may read."""
    return smb_conf.parameter_key(name) in _protections()


@cache
def _protections() -> frozenset[str]:
    return frozenset(map(smb_conf.parameter_key, smb_conf.toml_data("judgements.toml")["protections"]))


def number_of(name: str, value: str) -> float | None:
    """The number in a value: plain, a size such as 64K, or the highest of all classes of a log level; else None.

    ``name`` is the parameter's; empty for a fact, or a word of a value.
    """
    if name == "log level":
        return float(log_levels.highest_log_level(value))
    text = smb_conf.tidy_value(name, value)
    try:
        return float(text)
    except ValueError:
        return None


def _has_bits(mode: str, bits: str) -> bool:
    """Whether an octal mode has one of the bits, which are octal too."""
    try:
        return bool(int(mode, 8) & int(bits, 8))
    except ValueError:
        return False


def names_of(value: str) -> frozenset[str]:
    """The users and groups of a list, in small letters, without their domains and the signs of groups."""
    names = [entry.lstrip("@+&") for entry in smb_values.entries_of_list(value.lower())]
    return frozenset(name.rpartition("\\")[2] for name in names if name)


def words_of(value: str) -> Iterator[tuple[str, str]]:
    """The words of a value in small letters, each with what follows its equals sign, or "1"."""
    for word in smb_values.entries_of_list(value.lower()):
        name, _, number = word.partition("=")
        yield name, number or "1"


def without_commas(text: str) -> str:
    return _in_one_line(text.replace(",", " "))


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
