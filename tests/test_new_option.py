"""An option of ``run``: a field of a record of the spec, a row in ``app/cli/run_options.py``, and where it acts."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROW = '    _flag("sign", "--sign"'
ACTS = """
import json
from app.series.command import run_command
from app.series.record import new_series
from app.cli.run_options import spec_from_parameters
from app.clients.base import Secrets
from app.method.choices import GuideChoices
from app.recording.process import MeasuringOrder
from app.base.messages import line_of, message_of
from app.base.targets import parse_target
from app.series.requests import spec_of, series_request
from storage.json_reader import JSONNode
from storage.plan import plan_from_json

words = run_command.make_context("run", ["smb://nas/data/file", "--colour", "blue"]).params
spec = spec_from_parameters(words)
request = series_request(spec, parse_target("smb://nas/data/file"), Secrets())
order = message_of(line_of(MeasuringOrder.of_request(request)), [MeasuringOrder])
assert order.spec.{part}.colour == "blue", "in the measuring process"
kept = GuideChoices.from_memory(json.loads(json.dumps(GuideChoices(spec=spec).to_memory())))
assert kept.spec.{part}.colour == "blue", "in the memory of the guide"
series = new_series(request)
"""
OF_THE_PLAN = """
plan = plan_from_json(JSONNode("plan", json.loads(json.dumps(series.plan.to_json()))))
assert plan == series.plan and plan.{part}.colour == "blue", "in the notebook and in documents"
assert spec_of(series).{part}.colour == "blue", "measured again"
"""


@pytest.mark.varied
@pytest.mark.parametrize(
    ("file", "before", "part"),
    [
        ("storage/plan.py", "    drop_cache: bool = False", "settings"),
        ("storage/plan.py", "    runs: Annotated[", "counts"),
        ("storage/plan.py", "    quiet_time: QuietTime", "monitor"),
        ("app/recording/spec.py", '    label: str = ""\n    note: str', "texts"),
    ],
)
def test_a_made_up_option_reaches_the_measuring_process_and_comes_back_from_the_notebook(
    tmp_path: Path, file: str, before: str, part: str
):
    for package in ("app", "forms", "storage"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    for changed, place, line in (
        (file, before, '    colour: str = ""\n'),
        ("app/cli/run_options.py", ROW, '    _option("colour", "--colour", "NAME", "Colour.", default=""),\n'),
    ):
        text = (tmp_path / changed).read_text()
        assert text.count(place) == 1
        (tmp_path / changed).write_text(text.replace(place, line + place))
    script = (ACTS if part == "texts" else ACTS + OF_THE_PLAN).replace("{part}", part)
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
