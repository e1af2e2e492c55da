"""A page as a reader sees it: its elements in order, with their attributes and text."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "rect", "line"}

CHROMIUM = (
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""A browser that prints, and asks nothing of the network."""


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    parents: tuple[str, ...]
    text: str = ""
    children: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """Elements of a document; ``problems`` has what was opened and not closed, or closed and not opened."""

    def __init__(self, content: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.problems: list[str] = []
        self._open: list[Element] = []
        self.feed(content.decode())
        self.close()
        self.problems += [f"never closed: {element.tag}" for element in self._open]

    def handle_starttag(self, tag, attrs):
        element = Element(tag, {k: v or "" for k, v in attrs}, tuple(e.tag for e in self._open))
        if self._open:
            self._open[-1].children.append(tag)
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag):
        if not self._open or self._open[-1].tag != tag:
            self.problems.append(f"closed and not open: {tag}")
        else:
            self._open.pop()

    def handle_data(self, data):
        for element in self._open:
            element.text += data

    def all(self, *tags: str) -> list[Element]:
        return [element for element in self.elements if element.tag in tags]
