"""Misprints and contradictions in the sources of the method, with what is right."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from storage.json_reader import JSONNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Misprint:
    """One place where a source is wrong; the texts are whole sentences or what stands there."""

    key: str
    source: str
    printed: str
    right: str
    about: tuple[str, ...]
    """Parameters of the catalogue, parts and tables of the worksheets, keys of findings."""
    numbers: tuple[float, ...] = ()
    """The wrong figures as printed."""

    @property
    def sentence(self) -> str:
        """Both in one line."""
        return f'{self.source}: "{self.printed}" {self.right}'


@cache
def misprints() -> tuple[Misprint, ...]:
    """All that are known, in the order of the sources."""
    text = resources.files("forms.tuning").joinpath("data", "misprints.toml").read_text(encoding="utf-8")
    raw = tomllib.loads(text)["misprint"]
    folded = [{name: " ".join(v.split()) if isinstance(v, str) else v for name, v in item.items()} for item in raw]
    return tuple(JSONNode(item["key"], item).record(Misprint) for item in folded)


def misprints_about(*names: str) -> tuple[Misprint, ...]:
    """Those about a parameter, a part, a table or a finding, by any of its names."""
    wanted = {name.casefold() for name in names}
    return tuple(one for one in misprints() if wanted & {name.casefold() for name in one.about})


def known_misprint(table: str, number: float) -> Misprint | None:
    """The misprint of a table that a number was copied from; None for any other number."""
    return next((one for one in misprints_about(table) if number in one.numbers), None)
