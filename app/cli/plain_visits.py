"""What the screen has screens of its own for, said line by line: a form, a comparison, the catalogue, an export."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from app.errors import UsageError
from app.whole_file import output_file
from app.workflows.compare import sides_to_compare
from app.workflows.guide.choices import GuideChoices
from app.workflows.guide.rounds import take_change
from forms.comparison.report import pair_report
from forms.comparison.summary import comparisons
from forms.exporters import FORMATS, PAPERS, export_reports
from forms.exporters.text import report_text, run_form_text
from forms.reports import series_reports
from forms.series.summary import chart_in_words, run_form
from forms.tuning.catalogue import entries, find
from forms.tuning.catalogue_text import entry_text, list_text
from storage.notebook import Notebook
from storage.records import Target

_ASCII = str.maketrans({"─": "-", "═": "=", "│": "|", "⋮": ":", "█": "#", "░": ".", "→": ">", "★": "*", "▸": ">"})


def without_boxes(text: str) -> str:
    """The text without what a screen reader spells out and a serial console has not."""
    return text.translate(_ASCII)


def visit(
    name: str,
    arguments: Mapping[str, object],
    notebook_path: Path,
    ask: Callable[[str], str],
    say: Callable[[str], None],
    practice: Sequence[Target],
) -> GuideChoices | None:
    """Say what the screen of that name shows; the choices that follow from it, where any do."""
    with Notebook(notebook_path) as notebook:
        match name:
            case "series":
                form = run_form(notebook.series(str(arguments["series_id"])))
                say(run_form_text(form))
                for line in chart_in_words(form):
                    say(line)
            case "compare":
                pair = (str(arguments["base"]), str(arguments["other"]))
                say(report_text(pair_report(comparisons(sides_to_compare(notebook, pair))[0])))
            case "catalogue":
                say(list_text(entries()))
            case "entry":
                return _entry(notebook, arguments, ask, say, practice)
            case "export":
                ids = arguments["ids"]
                _export(notebook, [str(each) for each in ids] if isinstance(ids, tuple | list) else [], ask, say)
            case "survey":
                say("Everything at once, in turns: sharebench survey HOST --smb SHARE/FOLDER --ftp FOLDER --user USER")
            case "load":
                say(f"Many users at once: {_load_command(str(arguments['target']), str(arguments['ssh']))}")
            case _:
                say(f"That is on the screen alone: sharebench, without --plain, has {name}.")
    return None


def _load_command(target: str, ssh: str) -> str:
    server = f" --server-ssh {shlex.quote(ssh)}" if ssh else ""
    return f"sharebench load {shlex.quote(target)} --users 5,10,20 --scenario office{server}"


def _entry(
    notebook: Notebook,
    arguments: Mapping[str, object],
    ask: Callable[[str], str],
    say: Callable[[str], None],
    practice: Sequence[Target],
) -> GuideChoices | None:
    entry = find(str(arguments["entry"]))
    share = arguments.get("share")
    say(entry_text(entry, share=str(share) if share else None))
    value = ask(f"The value of {entry.parameter} in the next series, or Enter for none").strip()
    return take_change(notebook, practice, entry.parameter, value) if value else None


def _export(notebook: Notebook, ids: Sequence[str], ask: Callable[[str], str], say: Callable[[str], None]) -> None:
    suffixes = {format_.suffix: name for name, format_ in FORMATS.items()}
    path = Path(ask(f"File, ending in {', '.join(suffixes)}").strip()).expanduser()
    if path.suffix not in suffixes:
        raise UsageError(f"{path.name or 'no name'}: no format has that suffix; there are {', '.join(suffixes)}")
    if path.exists():
        raise UsageError(f"{path} is there already: name another file")
    with output_file(path) as file:
        reports = series_reports([notebook.series(each) for each in ids])
        file.write(export_reports(reports, suffixes[path.suffix], paper=PAPERS[0]))
    say(f"Written: {path.absolute()}")
