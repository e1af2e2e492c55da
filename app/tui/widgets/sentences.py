"""Sentences of any length on the screen, broken as on paper: between words, a number beside its unit."""

from collections.abc import Iterable
from dataclasses import replace

from textual.widgets import Static

from app.tui.widgets.views import join_toned
from forms import layout


class SentencesView(Static):
    """Shows sentences, each from a new line; Textual would break lines between a number and its unit."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id, classes=classes)
        self._sentences: tuple[layout.Toned, ...] = ()
        self._wrapped_for: tuple[tuple[layout.Toned, ...], int] | None = None
        """The sentences and the width that they were wrapped for last."""

    def show(self, sentences: Iterable[str | layout.Toned]) -> None:
        self._sentences = tuple(
            layout.Toned(sentence) if isinstance(sentence, str) else sentence for sentence in sentences
        )
        self._wrap()

    def on_resize(self) -> None:
        self._wrap()

    def _wrap(self) -> None:
        wrapped_for = (self._sentences, self.content_size.width)
        if self._wrapped_for == wrapped_for:
            return
        self._wrapped_for = wrapped_for
        self.update(join_toned(map(self._wrapped, self._sentences), "\n"))

    def _wrapped(self, sentence: layout.Toned) -> layout.Toned:
        cells = self.content_size.width
        if cells <= 0:  # not laid out yet: it is wrapped when it has its size
            return sentence
        lines = [part for line in sentence.text.split("\n") for part in layout.wrap(line, cells)]
        return replace(sentence, text="\n".join(lines))
