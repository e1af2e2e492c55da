"""Quick tests as a kind of recording: what commands and screens do with them, as `app.recording.kind` tells."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.base.errors import UsageError
from app.base.exit_codes import exit_code_of
from app.quick import alike
from app.recording import kind
from forms.layout import Toned
from storage import records
from storage.json_reader import JSONNode
from storage.notebook import Notebook
from storage.quick import records as quick_records
from storage.recordings import Recording

if TYPE_CHECKING:
    from forms.report import Report


class QuickKind(kind.Kind[quick_records.Quick]):
    name = quick_records.QUICK
    record: type = quick_records.Quick
    has_history = True
    measured_fields = ("program", "file_bytes", "lines")

    def report(self, notebook: Notebook, head: Recording) -> "Report":
        from forms.quick import report

        quick = self.read(notebook, head)
        return report.quick_report(quick, alike.comparison_with_before(notebook, quick))

    def answer(self, notebook: Notebook, head: Recording) -> Toned:
        from forms.quick.answer import quick_answer

        return quick_answer(self.read(notebook, head))

    def before(self, notebook: Notebook, head: Recording) -> str:
        before = alike.quick_test_before(notebook, self.read(notebook, head))
        return before.id if before else ""

    def count_done(self, notebook: Notebook, head: Recording) -> int:
        return len(self.read(notebook, head).lines)

    def target(self, notebook: Notebook, head: Recording) -> records.Target | None:
        return self.read(notebook, head).target

    def compare(
        self, notebook: Notebook, heads: Sequence[Recording], choices: kind.ComparisonChoices | None = None
    ) -> kind.ComparedRecordings:
        """Line by line, with the earlier quick tests of the base's path. Raises UsageError."""
        from forms.quick.comparison import compare_quick_tests
        from forms.quick.comparison_report import quick_comparison_report
        from forms.stats.decision import Limits

        choices = choices or kind.ComparisonChoices()
        # What they are called here may be the name of a baseline.
        base, other = (replace(self.read(notebook, head), label=head.label) for head in self.two_of(heads))
        earlier: list[quick_records.Quick] = []
        if not choices.alone:
            equal_tests = alike.quick_tests_like(notebook, base, before=base.created_at)
            earlier = [quick for quick in equal_tests if quick.id != other.id]

        limits = Limits(noise_percent=choices.noise_percent, margin_percent=choices.margin_percent)
        comparison = compare_quick_tests(base, other, earlier, limits)
        return kind.ComparedRecordings(quick_comparison_report(comparison), exit_code_of([comparison.verdict]))

    def judge_run(
        self, notebook: Notebook, head: Recording, run: str, status: records.RunStatus, reason: str | None
    ) -> bool:
        """Raises UsageError: with three runs a line, none can be told from the others."""
        del notebook, run, status, reason
        raise UsageError(f"quick test {head.id} keeps all of its runs: measure it again where something disturbed it")

    def quick_tests_alike(self, notebook: Notebook, head: Recording) -> Sequence[quick_records.Quick]:
        return alike.quick_tests_like(notebook, self.read(notebook, head), before=records.utc_now())

    def read(self, notebook: Notebook, head: Recording) -> quick_records.Quick:
        del notebook
        return quick_records.quick_of(head)

    def from_node(self, node: JSONNode) -> quick_records.Quick:
        return quick_records.quick_from_json(node)

    def add(self, notebook: Notebook, record: quick_records.Quick) -> None:
        notebook.add_recording(quick_records.recording_of_quick(record))


QUICK_KIND = QuickKind()
