"""What commands and screens do with several recordings at once: compare, show, delete, and offer their folders."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING

from app.base.errors import UsageError
from app.recording.kind import KINDS, ComparisonChoices, kind_of
from forms import wording
from storage.errors import with_article
from storage.notebook import Notebook
from storage.recordings import Recording
from storage.records import Target
from storage.shared import LAST

if TYPE_CHECKING:
    from forms.report import Report


def recordings_of_one_kind(notebook: Notebook, references: Sequence[str]) -> list[Recording]:
    """The recordings named; ``last`` is the newest of their kind. Raises UsageError for those of several kinds.

    The label of one that is named by its baseline is that name.
    """
    heads = {reference: notebook.recording(reference) for reference in references if reference != LAST}
    kinds = {head.kind for head in heads.values()} or {notebook.recording(LAST, *KINDS).kind}
    if len(kinds) > 1:
        descriptions = ", ".join(
            f"{head.label or head.subject or head.kind} ({reference}) is {with_article(head.kind)}"
            for reference, head in heads.items()
        )
        raise UsageError(f"{descriptions}: compare recordings of one kind")

    return [
        _called(notebook, reference, heads.get(reference) or notebook.recording(LAST, *kinds))
        for reference in references
    ]


def _called(notebook: Notebook, reference: str, head: Recording) -> Recording:
    """The recording with the name of the baseline that it was named by, in place of its label."""
    if reference != head.id and head.id in notebook.baseline_ids(reference):
        return replace(head, label=reference)
    return head


def base_first(notebook: Notebook, ids: Sequence[str]) -> list[str]:
    """The ids in the order in which recordings are shown: baselines first, then by age.

    As they are where one is not in the notebook, so that who reads them says so.
    """
    heads = notebook.recordings_of(list(ids))
    if len(heads) < len(ids):
        return list(ids)

    baseline_ids = {baseline.recording_id for baseline in notebook.baselines()}

    def baselines_then_age(head: Recording) -> tuple[bool, str]:
        return head.id not in baseline_ids, head.created_at

    return [head.id for head in sorted(heads, key=baselines_then_age)]


def page_of(notebook: Notebook, ids: Sequence[str]) -> "Report":
    """One page for somebody else, of one recording or of several compared, the base first. Raises UsageError."""
    in_order = base_first(notebook, ids)
    heads = recordings_of_one_kind(notebook, in_order)
    choices = ComparisonChoices(references=in_order, each_is_a_side=True)
    return kind_of(heads[0]).page(notebook, heads, choices)


def forms_of(notebook: Notebook, references: Sequence[str], *kinds: str) -> "list[Report]":
    """The forms of the recordings named; several of one kind get its overview first. Raises UsageError."""
    heads = [notebook.recording(reference, *kinds) for reference in references]
    if len({head.kind for head in heads}) == 1:
        return kind_of(heads[0]).forms(notebook, heads)
    return [kind_of(head).form(notebook, head) for head in heads]


def losses_text(notebook: Notebook, ids: Sequence[str]) -> str:
    """Which baselines and experiments lose a part if these are deleted, or empty."""
    baselines = notebook.baselines()
    sizes = Counter(baseline.name for baseline in baselines)
    losses = Counter(baseline.name for baseline in baselines if baseline.recording_id in ids)
    steps = Counter(head.experiment for head in notebook.heads_of(ids) if head.experiment)

    sentences = []
    for name, loss in sorted(losses.items()):
        fate = f"loses {wording.count(loss, 'recording')}." if loss < sizes[name] else "is deleted too."
        sentences.append(f'The baseline "{name}" {fate}')
    for name in sorted(steps):
        sentences.append(f'The experiment "{name}" loses {wording.count(steps[name], "step")}.')
    return wording.plain(" ".join(sentences))


def used_targets(notebook: Notebook, pointed: str = "") -> list[Target]:
    """The folders that recordings measured in, the newest first; before them that of the recording ``pointed`` to."""
    first = [kind_of(head).folder(notebook, head) for head in notebook.recordings_of([pointed] if pointed else [])]

    folders = []
    for kind in KINDS.values():
        folders += kind.used_folders(notebook)
    folders.sort(key=itemgetter(0), reverse=True)
    return [*filter(None, first), *(target for _, target in folders)]
