"""An option of ``run``: a field in ``storage/plan.py``, a row in ``app/cli/run_options.py``, and where it acts."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FIELD = "    sign: bool = False\n    encrypt: bool"
ROW = '    _option("sign", "--sign"'
ACTS = """
import json
from app.series.command import run_command
from app.cli.run_options import chosen
from app.clients.base import Secrets
from app.recording.process import MeasurementPlan
from app.base.child_process import line_of, message_of
from app.base.targets import parse_target
from app.series.requests import options_of, series_request
from storage.json_reader import JSONNode
from storage.plan import plan_from_json
from storage.records import ClientFacts, Series

words = run_command.make_context("run", ["smb://nas/data/file", "--colour", "blue"]).params
request = series_request(chosen(words), parse_target("smb://nas/data/file"), Secrets())
holder = {holder}
assert holder(message_of(line_of(request.plan), [MeasurementPlan])).colour == "blue", "in the measuring process"
kept = plan_from_json(JSONNode("plan", json.loads(json.dumps(request.stored_plan().to_json()))))
assert kept == request.stored_plan(), "in the notebook and in documents"
series = Series(id="1", created_at="2026", target=request.plan.target, client=ClientFacts(name="x"), plan=kept)
assert options_of(series).colour == "blue", "measured again"
"""


@pytest.mark.parametrize(
    ("before", "holder"),
    [
        (FIELD, "lambda plan: plan.settings"),
        ("    runs: Annotated[", "lambda plan: plan"),
    ],
)
def test_a_made_up_option_reaches_the_measuring_process_and_comes_back_from_the_notebook(
    tmp_path: Path, before: str, holder: str
):
    for package in ("app", "forms", "storage"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    for file, place, line in (
        ("storage/plan.py", before, '    colour: str = ""\n'),
        ("app/cli/run_options.py", ROW, '    _option("colour", "--colour", "NAME", "Colour.", default=""),\n'),
    ):
        text = (tmp_path / file).read_text()
        assert text.count(place) == 1
        (tmp_path / file).write_text(text.replace(place, line + place))
    script = ACTS.replace("{holder}", holder)
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
