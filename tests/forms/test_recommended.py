"""The recommended number of runs stands once: where it is another one, every text and default says that one."""

import json
import subprocess
import sys

import pytest

from forms import recommended

_CODE = """
import json
from storage import recommended
recommended.DEFAULT_RUNS = 7
recommended.DEFAULT_WARMUPS = 3
from app.guide.context import GuideContext
from app.guide.page import WORDS
from app.guide.pages import warm_up
from app.method.choices import GuideChoices
from app.tui.frame.screens import screen_called
from forms.findings.finding import finding_from_texts, warning_from_texts
from forms.series.run_table import blank_run_table
from storage.plan import RunCounts

warm_up.prospect_of = lambda *_: ""
page = warm_up.warm_up_page(GuideChoices(), GuideContext())
single = warning_from_texts("single")
texts = {
    "why": page.why,
    "fact": page.facts[0],
    "option": page.options[0].title,
    "screen": screen_called("guide").help,
    "warning": single.title,
    "options": single.options,
    "finding": finding_from_texts("ratio-unknown.single", what="get", percent=50.0, seen="").what_to_do,
    "rows": len(blank_run_table(None).rows),
    "counts": [RunCounts().warmups, RunCounts().runs],
}
print(json.dumps(texts))
"""


@pytest.mark.long
def test_everything_that_names_the_recommended_number_of_runs_follows_it():
    process = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=False)
    assert not process.returncode, process.stderr
    told = json.loads(process.stdout)

    assert told["counts"] == [3, 7]
    assert told["rows"] == 7 + 2, "the average and the deviation below them"
    assert told["options"] == "--runs 7"
    assert told["option"].startswith("3 warm-up, 7 ")
    assert "3 warm-up and 7 " in told["fact"]
    assert told["why"].count("Seven") == 1
    assert all("seven" in told[name] for name in ("screen", "warning", "finding"))


@pytest.mark.parametrize(("number", "text"), [(12, "twelve"), (13, "13")])
def test_small_numbers_are_spelled(number, text):
    assert recommended.spelled(number) == text


def test_other_braces_of_a_text_stay():
    assert recommended.with_recommended_numbers("{other} {recommended_runs}") == "{other} 5"
