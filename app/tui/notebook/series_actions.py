"""What can be done with the series that are pointed at or marked, on every screen that shows some."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from app.base.errors import UsageError
from app.tui.frame.commands import keys
from app.tui.frame.measuring import MeasureMixin
from app.tui.notebook import baseline_jobs, comparing_jobs, series_jobs

if TYPE_CHECKING:
    from app.method.choices import GuideChoices
    from app.recording.kind import Kind
    from app.recording.listing import ListedRecordings
    from app.tui.notebook.dialogs import SeriesTexts
    from forms.series.listing import RecordingLine
    from forms.stats.before_change import RepeatPlan
    from storage.notebook import Notebook

# The first paint does not wait for what comes after it, so dialogs and kinds are imported in the functions below.

_OTHER_HEADING = "Beside which other server?"
_OTHER_TEXT = (
    "Type another server, share, protocol or address, with a file of the same size, or a folder where one is made."
    " Both are measured, their runs alternate, and the pairs say which is faster. For a login of its own add"
    " --credentials FILE."
)
_NOT_NOW = "not now"
"""The answer to an offer that leaves everything as it is."""

ACTING_KEYS = keys(
    "series.edit series.baseline series.compare series.export series.hand-over series.try series.again series.versus"
    " series.history"
)


class SeriesActions(MeasureMixin):
    """Keys that do something with the recordings that a screen shows; "series" stands for a recording of any kind.

    The screen writes ``pointed_id`` and ``marked_ids``, called when a key is pressed, and ``changed``, called when
    something was written about recordings.
    """

    def pointed_id(self) -> str | None:
        """The recording that the cursor points at; None where it points at none."""
        raise NotImplementedError

    def marked_ids(self) -> Sequence[str]:
        """The marked recordings, in the order in which they were marked; none on a screen without marks."""
        return ()

    def target_ids(self) -> list[str]:
        """What a key acts on: what is marked, else what is pointed at."""
        marked = list(self.marked_ids())
        pointed = self.pointed_id()
        if marked or pointed is None:
            return marked
        return [pointed]

    def _marked_text(self) -> str:
        """The end of a dialog's heading: whose label or name is asked for; empty for the row with the cursor."""
        count = len(self.marked_ids())
        if count > 1:
            return f" of {count} marked recordings"
        return " of the marked recording" if count else ""

    def changed(self, *series_ids: str) -> None:
        """Other texts or names of these are stored than before."""
        raise NotImplementedError

    # Label and note

    def action_edit(self) -> None:
        from app.tui.notebook.dialogs import EditDialog

        ids = self.target_ids()
        if not ids:
            return
        dialog = EditDialog(self._marked_text())

        def write(texts: "SeriesTexts") -> None:
            job = partial(series_jobs.write_texts, ids=ids, before=dialog.before, texts=texts)
            self.with_notebook(job, partial(self._tell_changed, ids))

        self.ask(dialog, write)
        self.with_notebook(partial(series_jobs.read_texts, ids=ids), partial(dialog.call_later, dialog.fill))

    def _tell_changed(self, ids: Sequence[str], _result: object = None) -> None:
        self.changed(*ids)

    # History

    def action_history(self) -> None:
        from app.watch.history import history_of_recording

        recording_id = self.pointed_id()
        if recording_id is None:
            return

        # The history is read here only to say why there is none; its screen reads it again.
        def show(_history: object) -> None:
            self.sharebench_app.visit("history", reference=recording_id)

        self.with_notebook(partial(history_of_recording, reference=recording_id), show)

    # Baselines

    def action_baseline(self) -> None:
        from app.tui.notebook.dialogs import BaselineDialog

        ids = self.target_ids()
        if not ids:
            return
        dialog = BaselineDialog(self._marked_text())

        def change_names(answer: tuple[str, bool]) -> None:
            name, is_given = answer
            if is_given:
                give = partial(baseline_jobs.give_baseline_name, ids=ids, name=name, practice=self.context.practice)
                self.with_notebook(give, partial(self._tell_named, ids, name))
            else:
                self.with_notebook(
                    partial(baseline_jobs.remove_baseline_name, name=name), partial(self._tell_unnamed, ids, name)
                )

        self.ask(dialog, change_names)
        self.with_notebook(partial(baseline_jobs.baseline_names, ids=ids), partial(dialog.call_later, dialog.offer))

    def _tell_named(self, ids: Sequence[str], name: str, given: baseline_jobs.GivenName) -> None:
        owners = f"these {len(ids)} recordings" if len(ids) > 1 else "this recording"
        if given.renamed_count:
            plural = "s" if given.renamed_count > 1 else ""
            owners += f", and no longer {given.renamed_count} other{plural}"

        # Where repeats are offered, what the base shows stands above them.
        power = "" if given.offers else given.power
        sentences = [f"{name!r} now names {owners}.", power, "B marks it; the filter (f) finds it by baseline."]
        self.notify(" ".join(filter(None, sentences)), title="Baseline")
        self.changed(*ids)
        if given.offers:
            self._offer_repeats(name, given)

    def _offer_repeats(self, name: str, given: baseline_jobs.GivenName) -> None:
        """Offer the repeats that let the baseline show smaller changes: after the change nobody can measure them."""
        from app.tui.frame.dialogs import PickDialog

        rows: list[tuple[RepeatPlan | str | None, str]] = [(offer.plan, offer.text) for offer in given.offers]
        rows.append((_NOT_NOW, "Not now"))

        def begin(answer: "RepeatPlan | str") -> None:
            if isinstance(answer, str) or self.sharebench_app.returned_to_measurement():
                return
            self.with_notebook(
                partial(baseline_jobs.begin_repeats, base_id=given.newest_id, plan=answer), self.measure_with
            )

        text = f"{given.power} More series of it can only be measured before the change."
        about = "The guide measures the repeats one after the other, and gives them the name of the baseline."
        dialog: PickDialog[RepeatPlan | str] = PickDialog(
            f"Before a change: baseline {name}", rows, about=about, text=text, wide=True
        )
        self.ask(dialog, begin)

    def _tell_unnamed(self, ids: Sequence[str], name: str, _result: None) -> None:
        self.notify(f"{name!r} names none now", title="Baseline")
        self.changed(*ids)

    # Comparing

    def action_compare(self) -> None:
        """Compare what is marked; one that is marked with the one pointed at; one alone with its base or a choice."""
        pointed = self.pointed_id()
        ids = list(self.marked_ids())
        if len(ids) == 1 and pointed is not None and pointed != ids[0]:
            ids.append(pointed)

        if len(ids) > 1:
            self._compare_sorted(ids)
        elif pointed is not None:
            self.with_notebook(
                partial(comparing_jobs.base_or_others, recording_id=pointed), partial(self._compare_with, pointed)
            )

    def _compare_with(
        self, recording_id: str, base_or_others: "comparing_jobs.ComparisonBase | ListedRecordings"
    ) -> None:
        """Compare with its base, or ask with which of the others."""
        from app.tui.frame.dialogs import PickDialog

        if isinstance(base_or_others, comparing_jobs.ComparisonBase):
            self.notify(f"Compared with {base_or_others.name}. To choose another: space marks, then c.", markup=False)
            self._compare([base_or_others.recording_id, recording_id], baseline=base_or_others.baseline)
            return

        rows: list[tuple[str | None, str]] = [(line.id, _offer_text(line)) for line in base_or_others.lines]
        rows += [(None, f"! {other_id} cannot be read") for other_id in base_or_others.problems]
        if not rows:
            self.notify("The notebook has no other recording of this kind yet.", severity="warning")
            return

        def compare_with(other_id: str) -> None:
            self._compare_sorted([recording_id, other_id])

        about = "The recording to compare with. To compare several, mark them with space and press c."
        self.ask(PickDialog("Compare with", rows, about=about, wide=True), compare_with)

    def _compare_sorted(self, ids: list[str]) -> None:
        self.with_notebook(partial(comparing_jobs.order_base_first, ids=ids), self._compare)

    def _compare(self, ids: list[str], *, baseline: str = "") -> None:
        """Show the comparison of these, the base first, on the screen that its kind has for that.

        ``baseline`` is the name that the base is compared by, which stands for all its series; empty for none.
        """
        self.with_notebook(
            partial(comparing_jobs.kind_of_recording, recording_id=ids[0]),
            partial(self._show_comparison, ids, baseline or ids[0]),
        )

    def _show_comparison(self, ids: list[str], base_reference: str, kind: "Kind[Any]") -> None:
        if not kind.has_comparison_screen:
            self.sharebench_app.visit("compared", ids=ids)
        elif len(ids) == 2:
            self.sharebench_app.visit("compare", base=base_reference, other=ids[1])
        else:
            self.sharebench_app.visit("table", ids=ids)

    # To other screens

    def open_recording(self, recording_id: str) -> None:
        def read(notebook: "Notebook") -> "tuple[str, Kind[Any]]":
            """Raises UsageError for a kind that this version does not know."""
            from app.recording.kind import kind_of

            head = notebook.recording(recording_id)
            return head.id, kind_of(head)

        self.with_notebook(read, self._open_as)

    def _open_as(self, opened: "tuple[str, Kind[Any]]") -> None:
        head_id, kind = opened
        self.sharebench_app.visit(kind.screen, **{kind.screen_argument: head_id})

    def action_again(self) -> None:
        """Lead to the guide, with the choices that measure it again."""
        from app.method.rounds import measure_again

        series_id = self.pointed_id()
        if series_id is not None:
            self.with_notebook(partial(measure_again, series_id=series_id), self.measure_with)

    def action_versus(self) -> None:
        """Lead to the guide, with the choices that measure it again beside another server, which is asked for."""
        recording_id = self.pointed_id()
        if recording_id is None or self.sharebench_app.returned_to_measurement():
            return
        self.with_notebook(partial(comparing_jobs.round_beside, recording_id=recording_id), self._ask_other_target)

    def _ask_other_target(self, choices: "GuideChoices", typed: str = "", problem: str = "") -> None:
        """``typed`` is what was not taken, and ``problem`` says why."""
        from app.base.targets import parse_target_with_login
        from app.tui.frame.dialogs import AskDialog
        from app.tui.widgets.completion import TargetSuggester, known_places
        from storage.records import format_target

        def begin(text: str) -> None:
            try:
                parse_target_with_login(text)
            except UsageError as error:
                self._ask_other_target(choices, text, str(error))
                return
            self.measure_beside(choices, text)

        own_target = choices.target
        assert own_target is not None
        own_place = own_target if choices.file is None else replace(own_target, path=choices.file)
        value = typed or format_target(own_place)
        dialog = AskDialog(_OTHER_HEADING, _OTHER_TEXT, value=value, problem=problem)
        dialog.box.suggester = TargetSuggester(known_places([], self.context.listed_shares))
        # What was wrong is to be mended, not typed anew.
        dialog.box.select_on_focus = not problem
        self.ask(dialog, begin)

    def action_try(self) -> None:
        recording_id = self.pointed_id()
        if recording_id is not None:
            self.with_notebook(partial(series_jobs.prepare_to_try, recording_id=recording_id), self._show_catalogue)

    def _show_catalogue(self, setting: str) -> None:
        self.sharebench_app.visit("catalogue", words=setting)

    def action_export(self) -> None:
        ids = self.target_ids()
        if ids:
            self.sharebench_app.visit("export", ids=ids)

    def action_hand_over(self) -> None:
        ids = self.target_ids()
        if ids:
            self.sharebench_app.visit("export", ids=ids, is_page=True)


def _offer_text(line: "RecordingLine") -> str:
    return f"{line.when}  {line.label or line.what}  {line.answer.text}"
