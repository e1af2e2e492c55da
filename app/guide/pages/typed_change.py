"""A change that is typed as NAME = VALUE: what it means, and the questions that ask for one."""

from collections.abc import Callable
from dataclasses import replace

from app.base.errors import UsageError
from app.clients.base import OWN
from app.guide import page
from app.method import choices as method_choices
from app.method import one_change
from app.series.requests import parse_change
from forms.tuning import catalogue
from forms.tuning.smb_conf import spelling
from storage import records

_EXAMPLE = "NAME = VALUE, such as: server signing = mandatory."


def ask_to_try(choices: method_choices.GuideChoices, series: records.Series) -> page.Ask:
    """Ask for a setting that sharebench tries by itself: a trial on the server, or a round with its own setting."""
    own_changes = one_change.OWN_CHANGES if series.client.name == OWN else ()

    def take_change(name: str, value: str) -> page.Act:
        if name in own_changes:
            return page.Go(one_change.change_one_thing(choices, series, name, value))
        return page.Visit("trial", {"setting": f"{name} = {value}"})

    return ask_change("Try a setting of the server", "It asks before it writes.", take_change, keep=True)


def by_hand(
    choices: method_choices.GuideChoices, series: records.Series, interleaved: int
) -> Callable[[str, str], page.Act]:
    """Takes the change of the next round; ``interleaved``: how many series a side, 0 for one before and after."""

    def take_change(name: str, value: str) -> page.Act:
        return page.Go(replace(one_change.change_one_thing(choices, series, name, value), interleaved=interleaved))

    return take_change


def ask_change(heading: str, about_it: str, then: Callable[[str, str], page.Act], *, keep: bool = False) -> page.Ask:
    """Ask for a change; ``then`` makes an act of its name and value."""

    def take_text(text: str) -> page.Act:
        name, value = _typed_change(text)
        return then(name, value)

    return page.Ask(heading=heading, text=f"{_EXAMPLE} {about_it}", then=take_text, keep=keep)


def _typed_change(text: str) -> tuple[str, str]:
    """Name and value, the name as the catalogue has it. Raises UsageError."""
    is_target = "://" in text.partition("=")[0] or ("=" not in text and text.strip().startswith(("/", "\\\\")))
    if is_target:
        raise UsageError("a target is no setting: leave this question; n starts a new measurement of another target")

    name, value = parse_change(text)
    is_sambas = bool(spelling(name).parameter)
    entries = catalogue.about(name)
    if not is_sambas:
        entries = entries or catalogue.about(f"client {name}")

    # A parameter of Samba's is not taken for an entry of another kind that has its name.
    entry = next((entry for entry in entries if entry.kind is catalogue.EntryKind.SMB_CONF or not is_sambas), None)
    if entry and entry.kind in (catalogue.EntryKind.SMB_CONF, catalogue.EntryKind.CLIENT):
        return entry.name, value
    return name, value
