"""What can be done with the series that are pointed at or marked, on every screen that shows some."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from app.tui.frame.base import MeasureMixin
from app.tui.frame.commands import keys

if TYPE_CHECKING:
    from app.tui.notebook.dialogs import SeriesTexts
    from forms.series.listing import RecordingLine
    from storage.notebook import Notebook
    from storage.recordings import Recording

_OFFERED = 100
ACTING_KEYS = keys("series.edit series.baseline series.compare series.export series.try series.again series.history")


class SeriesActions(MeasureMixin):
    def chosen(self) -> str | None:
        raise NotImplementedError

    def marked(self) -> Sequence[str]:
        return ()

    def meant(self) -> list[str]:
        return list(self.marked()) or [series_id for series_id in (self.chosen(),) if series_id is not None]

    def _marked_text(self) -> str:
        """Whose label or name is asked for, where it is not that of the row with the cursor."""
        count = len(list(self.marked()))
        one = " of the marked recording" if count else ""
        return f" of {count} marked recordings" if count > 1 else one

    def changed(self, *series_ids: str) -> None:
        raise NotImplementedError

    # Label and note

    def action_edit(self) -> None:
        from app.tui.notebook.dialogs import EditDialog  # noqa: PLC0415  the first paint does not wait for what comes after it

        if not (ids := self.meant()):
            return
        dialog = EditDialog(self._marked_text())

        def answered(words: "SeriesTexts") -> None:
            write = partial(_set_words, ids=ids, before=dialog.before, words=words)
            self.with_notebook(write, lambda _: self.changed(*ids))

        self.ask(dialog, answered)
        self.with_notebook(lambda notebook: _words_of(notebook, ids), partial(dialog.call_later, dialog.fill))

    def action_history(self) -> None:
        from app.watch.record import history_of_recording  # noqa: PLC0415  the first paint does not wait for what comes after it

        if (here := self.chosen()) is not None:
            self.with_notebook(
                lambda notebook: history_of_recording(notebook, here),
                lambda _: self.sharebench_app.visit("history", reference=here),
            )

    # Baselines

    def action_baseline(self) -> None:
        from app.tui.notebook.dialogs import BaselineDialog  # noqa: PLC0415  the first paint does not wait for what comes after it

        if not (ids := self.meant()):
            return
        dialog = BaselineDialog(self._marked_text())

        def answered(naming: tuple[str, bool]) -> None:
            self.with_notebook(lambda notebook: _name(notebook, ids, *naming), lambda lost: done(*naming, lost))

        def done(name: str, given: bool, lost: int) -> None:
            named = f"these {len(ids)} recordings" if len(ids) > 1 else "this recording"
            named += f", and no longer {lost} other{'s' * (lost > 1)}" if lost else ""
            said = f"{name!r} now names {named}. B marks it; the filter (f) finds it by baseline."
            self.notify(said if given else f"{name!r} names none now", title="Baseline")
            self.changed(*ids)

        self.ask(dialog, answered)
        self.with_notebook(lambda notebook: _baseline_names(notebook, ids), partial(dialog.call_later, dialog.offer))

    # Comparing

    def action_compare(self) -> None:
        here, marked = self.chosen(), list(self.marked())
        if len(marked) == 1 and here is not None and here != marked[0]:
            marked.append(here)
        if len(marked) > 1:
            self.with_notebook(lambda notebook: _base_first(notebook, marked), self._compare_all)
        elif here is not None:
            self.with_notebook(
                lambda notebook: _base_of(notebook, here) or _others(notebook, here),
                lambda found: self._compare_with(found, here),
            )

    def _compare_with(self, found: "str | list[RecordingLine]", here: str) -> None:
        from app.tui.frame.dialogs import PickDialog  # noqa: PLC0415  the first paint does not wait for what comes after it

        def chosen(other: str) -> None:
            self.with_notebook(lambda notebook: _base_first(notebook, [here, other]), self._compare_all)

        if isinstance(found, str):
            self._compare_all([found, here])
        elif found:
            rows = [(one.id, f"{one.when}  {one.label or one.what}  {one.answer.text}") for one in found]
            about = "The recording to compare with. To compare several, mark them with space and press c."
            self.ask(PickDialog("Compare with", rows, about=about, wide=True), chosen)
        else:
            self.notify("The notebook has no other recording of this kind yet.", severity="warning")

    def _compare_all(self, ids: list[str]) -> None:
        self.with_notebook(lambda notebook: notebook.recording(ids[0]).kind, lambda kind: self._compare_kind(kind, ids))

    def _compare_kind(self, kind: str, ids: list[str]) -> None:
        if kind != "series":
            from app.kinds import compare  # noqa: PLC0415  the first paint does not wait for what comes after it
            from app.tui.widgets.reading import ReportScreen  # noqa: PLC0415  as above

            self.app.push_screen(
                ReportScreen("Comparison", lambda notebook: compare(notebook, notebook.recordings_of(ids)).report)
            )
        elif len(ids) == 2:
            self.sharebench_app.visit("compare", base=ids[0], other=ids[1])
        else:
            self.sharebench_app.visit("table", ids=ids)

    def open_recording(self, recording_id: str) -> None:
        self.with_notebook(lambda notebook: notebook.recording(recording_id), self._open_head)

    def _open_head(self, head: "Recording") -> None:
        screen, which = ("series", "series_id") if head.kind == "series" else ("stored", "recording_id")
        self.sharebench_app.visit(screen, **{which: head.id})

    def action_again(self) -> None:
        from app.guide.rounds import measure_again  # noqa: PLC0415  all of the guide, loaded when one goes there

        if (series_id := self.chosen()) is not None:
            self.with_notebook(lambda notebook: measure_again(notebook, series_id), self.measure_with)

    def action_try(self) -> None:
        from app.guide.rounds import measure_again  # noqa: PLC0415  as above

        def read(notebook: "Notebook", here: str) -> str:
            if notebook.heads_of([here]):
                measure_again(notebook, here)
            return _setting_of(notebook, here)

        if (here := self.chosen()) is not None:
            show = partial(self.sharebench_app.visit, "catalogue")
            self.with_notebook(partial(read, here=here), lambda name: show(words=name))

    def action_export(self) -> None:
        if ids := self.meant():
            self.sharebench_app.visit("export", ids=ids)


def _setting_of(notebook: "Notebook", recording_id: str) -> str:
    from forms.tuning import catalogue  # noqa: PLC0415  the first paint does not wait for what comes after it

    plan = notebook.trial(notebook.recording(recording_id).subject)
    return plan.name if plan and catalogue.search(plan.name) else ""


def _words_of(notebook: "Notebook", ids: Sequence[str]) -> "SeriesTexts":
    from app.tui.notebook.dialogs import SeriesTexts  # noqa: PLC0415  the first paint does not wait for what comes after it

    heads = notebook.recordings_of(ids)
    labels, notes = {head.label for head in heads}, {head.note for head in heads}
    label, note = (texts.pop() if len(texts) == 1 else "" for texts in (labels, notes))
    return SeriesTexts(label=label, note=note)


def _set_words(notebook: "Notebook", ids: Sequence[str], before: "SeriesTexts", words: "SeriesTexts") -> None:
    texts = {name: (getattr(before, name), getattr(words, name)) for name in ("label", "note")}
    changed = {name: now for name, (was, now) in texts.items() if now != was}
    if changed:
        with notebook.at_once():
            for recording_id in ids:
                notebook.describe(recording_id, **changed)


def _base_first(notebook: "Notebook", ids: Sequence[str]) -> list[str]:
    from app.kinds import alike  # noqa: PLC0415  the first paint does not wait for what comes after it

    named = {baseline.recording_id for baseline in notebook.baselines()}
    return [head.id for head in sorted(alike(notebook, ids), key=lambda head: (head.id not in named, head.created_at))]


def _baseline_names(notebook: "Notebook", ids: Sequence[str]) -> tuple[list[str], list[str]]:
    baselines = notebook.baselines()
    own = {baseline.name for baseline in baselines if baseline.recording_id in ids}
    return sorted(own), sorted({baseline.name for baseline in baselines} - own)


def _name(notebook: "Notebook", ids: Sequence[str], name: str, given: bool) -> int:
    """How many other recordings had the name."""
    from app.kinds import alike, check_repeats  # noqa: PLC0415  the first paint does not wait for what comes after it

    if not given:
        notebook.remove_baseline(name)
        return 0
    if alike(notebook, ids)[0].kind == "series":
        check_repeats(notebook, ids)
    lost = {*notebook.baseline_ids(name)} - {*ids}
    notebook.set_baseline(name, *ids)
    return len(lost)


def _others(notebook: "Notebook", recording_id: str) -> "list[RecordingLine]":
    from app.kinds import lines  # noqa: PLC0415  the first paint does not wait for what comes after it

    with notebook.snapshot():
        here = notebook.recording(recording_id)
        found = [head for head in notebook.recordings(here.kind, limit=_OFFERED) if head.id != here.id]
        return lines(notebook, sorted(found, key=lambda head: head.subject != here.subject))


def _base_of(notebook: "Notebook", series_id: str) -> str | None:
    equal = next((ids for ids in notebook.repeated_ids() if series_id in ids), (series_id,))
    able = [one for one in notebook.heads_of(list(equal)) if one.base_id and (one.change or one.id == series_id)]
    if able:
        return min(able, key=lambda one: (one.change is None, one.id != series_id)).base_id
    named = {baseline.recording_id for baseline in notebook.baselines()} - {series_id}
    kinds = {head.id: head.kind for head in notebook.recordings_of([series_id, *named])}
    alike = [one for one in named if kinds[one] == kinds.get(series_id)]
    return alike[0] if len(alike) == 1 else None
