"""The page on which a file is chosen: one that is there, or one that sharebench makes."""

from collections.abc import Iterator
from dataclasses import replace

from app.base.units import parse_size
from app.guide import page
from app.guide.context import GuideContext, file_size_context
from app.guide.pages import before_change, beside, link
from app.guide.pages.going_on import go_on
from app.method.choices import GuideChoices, MethodStep, with_made_file, with_picked_file
from forms import wording
from forms.layout import Toned
from forms.series import file_size
from forms.series.wording import advised_size_sentences, suitability
from storage.records import Command

_ADVISED_FITS = (file_size.FileFit.WELL, file_size.FileFit.LARGE, file_size.FileFit.UNKNOWN)
_MADE_HINT = "sharebench creates it, and removes it afterwards"


def file_page(choices: GuideChoices, context: GuideContext) -> page.Page:
    size_context = file_size_context(choices, context)
    size_advice = f"Recommended: {advised_size_sentences(size_context)}"
    facts: list[str | Toned] = [*link.known_link_fact(choices, context), size_advice, *beside.others_facts(choices)]

    options: list[page.Option] = []
    if choices.file is not None and choices.file_bytes is not None and choices.target is not None:
        picked = _picked_file(choices, context, size_context)
        facts.append(_picked_fact(choices, context, size_context))
        options.append(picked)
        is_guess = size_context.expected_bytes_per_second is None
        if picked.advised and (is_guess or _is_for_practice(choices, context)):
            # A file that is there is to be tried: another size is a guess, or more than practice needs.
            facts.remove(size_advice)

    options += _made_files(choices, context, size_context, is_first=not any(option.advised for option in options))
    if as_before := before_change.same_as_baseline_there(choices, context.newest_baseline):
        options = [*as_before, *(replace(option, advised=False) for option in options)]
    cursor = next((index for index, option in enumerate(options) if option.advised), 0)
    return page.step_page(MethodStep.FILE, facts, options, cursor=cursor)


def _picked_file(choices: GuideChoices, context: GuideContext, size_context: file_size.FileSizeContext) -> page.Option:
    fit = suitability(choices.file_bytes or 0, size_context).word
    is_usable = fit is not file_size.FileFit.EMPTY
    is_advised = is_usable and (_is_for_practice(choices, context) or fit in _ADVISED_FITS)
    act = go_on(with_picked_file(choices), context, MethodStep.FILE) if is_usable else None
    is_enough = is_usable and _is_for_practice(choices, context)
    hint = "enough for practice" if is_enough else _fit_text(fit)
    return page.Option(f"Get {_file_name(choices)}", act, hint, advised=is_advised)


def _picked_fact(choices: GuideChoices, context: GuideContext, size_context: file_size.FileSizeContext) -> str:
    size_bytes = choices.file_bytes or 0
    suits = suitability(size_bytes, size_context)
    reason = "Enough for practice." if _is_for_practice(choices, context) else suits.reason
    return f"File: {_file_name(choices)}, {wording.file_size(size_bytes)} ({_fit_text(suits.word)}). {reason}"


def _file_name(choices: GuideChoices) -> str:
    return wording.plain((choices.file or "").rpartition("/")[2])


def _is_for_practice(choices: GuideChoices, context: GuideContext) -> bool:
    host = choices.target.host if choices.target else None
    return any(target.host == host for target in context.practice)


def _fit_text(fit: file_size.FileFit) -> str:
    return "whether it is large enough shows after the first run" if fit is file_size.FileFit.UNKNOWN else str(fit)


def _made_files(
    choices: GuideChoices, context: GuideContext, size_context: file_size.FileSizeContext, *, is_first: bool
) -> list[page.Option]:
    """Files to be made, then what else can be chosen; ``is_first``: nothing above is advised, so the get is."""
    size_bytes = file_size.advised_bytes(size_context)
    size = wording.typed_size(size_bytes)
    get_made = _make_file(choices, context, Command.GET, size_bytes)
    reach = page.Connect(choices.target, choices.kerberos) if choices.target else None

    get_option = page.Option(f"Get a file of {size}", get_made, _MADE_HINT, advised=is_first)
    if choices.target is not None and not choices.target.abilities.moves_files:
        get_option = page.Option(f"Get {size} a run", get_made, advised=True)
    return [
        get_option,
        *_puts(choices, context, size_bytes),
        page.Option("Get a file of another size…", _ask_size(choices, context, Command.GET, size), _MADE_HINT),
        page.Option("Put a file of another size…", _ask_size(choices, context, Command.PUT, size), _MADE_HINT),
        page.Option("Pick another file", reach, "look into the share"),
        link.link_option(choices, context, MethodStep.FILE),
    ]


def _puts(choices: GuideChoices, context: GuideContext, size_bytes: int) -> Iterator[page.Option]:
    """A put timed until the server has answered and, where the protocol can, one timed until the flush."""
    size = wording.typed_size(size_bytes)
    answered = _make_file(choices, context, Command.PUT, size_bytes)
    yield page.Option(f"Put a file of {size}", answered, "until the server has answered; it may not be on the disk yet")
    if choices.target is not None and choices.target.abilities.can_flush:
        flushed = _make_file(choices, context, Command.PUT, size_bytes, flush=True)
        yield page.Option(f"Put a file of {size}, flushed", flushed, "until it is on the disk")


def _make_file(
    choices: GuideChoices, context: GuideContext, command: Command, size_bytes: int, *, flush: bool = False
) -> page.Go:
    return go_on(with_made_file(choices, command, size_bytes, flush=flush), context, MethodStep.FILE)


def _ask_size(choices: GuideChoices, context: GuideContext, command: Command, usual_size: str) -> page.Ask:
    flush = choices.spec.settings.flush and command is Command.PUT

    def take_size(text: str) -> page.Go:
        return _make_file(choices, context, command, parse_size(text), flush=flush)

    return page.ask_question("Size of the file", take_size, usual_size)
