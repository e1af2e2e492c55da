"""Other screens that a page of the guide leads to, for the plain guide: shown as text, or the command to type."""

from collections.abc import Mapping
from dataclasses import replace

from app.comparison.named import Counted
from app.comparison.several import compare_named
from app.guide.needs import Drive
from app.guide.plain_export import export_series
from app.guide.plain_terminal import PlainTerminal
from app.guide.plain_trial import PlainTrial
from app.guide.session import GuideSession
from app.method import rounds
from app.method.choices import GuideChoices
from app.method.measured_place import measured_place
from app.method.typed_commands import commands_for_screens
from forms.comparison.pair_report import pair_report
from forms.exporters.text import report_text
from forms.series.report import series_report
from forms.series.summary import run_form
from forms.tuning import catalogue, catalogue_text
from storage.notebook import Notebook


class PlainVisits:
    """``visit`` takes the place of a screen; a trial is carried out here too (``drive``: see PlainTrial)."""

    def __init__(self, session: GuideSession, terminal: PlainTerminal, drive: Drive) -> None:
        self._session = session
        self._terminal = terminal
        self._trial = PlainTrial(session, terminal, drive)

    def visit(self, name: str, arguments: Mapping[str, object]) -> GuideChoices | None:
        """Show what that screen would show; returns the choices that were made there, if any."""
        if name == "trial":
            self._trial.try_setting(str(arguments["setting"]))
            return None
        with Notebook(self._session.path) as notebook:
            match name:
                case "series":
                    form = run_form(notebook.series(str(arguments["series_id"])))
                    self._terminal.say(report_text(series_report(form)))
                case "compare":
                    pair = (str(arguments["base"]), str(arguments["other"]))
                    (compared,) = compare_named(notebook, pair, counted=Counted.REPEATS).with_base
                    self._terminal.say(report_text(pair_report(compared)))
                case "catalogue":
                    self._terminal.say(catalogue_text.list_text(catalogue.entries()))
                case "entry":
                    return self._visit_entry(notebook, str(arguments["entry"]), arguments.get("share"))
                case "export":
                    export_series(self._terminal, notebook, arguments["ids"])
                case _:
                    otherwise = f"That is on the screen alone: sharebench, without --plain, has {name}."
                    self._terminal.say(commands_for_screens(arguments).get(name, otherwise))
        return None

    def _visit_entry(self, notebook: Notebook, name: str, share: object) -> GuideChoices | None:
        """Show the entry, and take its setting into the next series where a value is typed."""
        entry = catalogue.find(name)
        practice = self._session.practice
        place = replace(measured_place(notebook, practice), share=str(share) if share else None)
        text = catalogue_text.entry_text(
            entry,
            share=place.share,
            sections=place.sections_to_change(entry),
            conf=place.conf,
            now=place.value_in_words(entry),
        )
        self._terminal.say(text)
        question = f"The value of {entry.parameter} in the next series, or Enter for none"
        value = self._terminal.ask_words(question)
        return rounds.take_change(notebook, practice, entry.parameter, value) if value else None
