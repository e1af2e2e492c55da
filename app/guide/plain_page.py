"""A page of the guide as lines of text, its choices numbered; and what is in a folder on a server."""

from collections.abc import Iterator, Sequence

from app.clients.browsing import Item, ItemKind
from app.guide.page import Option, Page
from app.method.choices import STEPS, MethodStep
from forms import layout, wording
from forms.report import SIGNS


def page_lines(page: Page, step: MethodStep) -> Iterator[str]:
    """The page of that step: its title, why it is there, its facts and its choices."""
    yield ""
    yield f"Step {STEPS.index(step) + 1} of {len(STEPS)}. {page.title}."
    if page.headline:
        yield ", ".join(part.text for part in page.headline)
    if not page.begins_with_answer:
        yield page.why
    yield from (fact.text if isinstance(fact, layout.Toned) else fact for fact in page.facts)
    if page.columns:
        yield f"In columns: {' '.join(page.columns.split())}"
    yield from _option_lines(page)


def _option_lines(page: Page) -> Iterator[str]:
    """The options, those that can be chosen with their numbers."""
    offered = [option for option in page.options if option.act is not None]
    on_enter = option_on_enter(page, offered) if offered else None
    number = 0
    for option in page.options:
        text = ": ".join(filter(None, (_title_text(option), option.hint)))
        if option.act is None:
            yield f"-  {text}"
            continue

        number += 1
        mark = ""
        if option.advised:
            mark = " (recommended)"
        elif option is on_enter:
            mark = " (Enter)"
        yield f"{number}. {text}{mark}"


def option_on_enter(page: Page, offered: Sequence[Option]) -> Option:
    """What Enter alone chooses: where the cursor stands if that is recommended, else what is, else the first one."""
    pointed = page.options[page.cursor]
    if pointed.advised:
        return pointed
    return next((option for option in offered if option.advised), offered[0])


def _title_text(option: Option) -> str:
    sign = SIGNS.get(option.mark, "")
    run = "run " if option.is_run else ""
    title = " ".join(option.title.split()).removesuffix("…")
    return f"{sign} {run}{title}".strip()


def item_line(item: Item) -> str:
    """An item of a folder on a server, in a line."""
    if item.kind is ItemKind.MADE:
        return item.name.strip("[ ]")
    name = "the folder above" if item.kind is ItemKind.UP else wording.plain(item.name)
    return ", ".join(part for part in (name, str(item.kind), item.size, item.suits) if part)
