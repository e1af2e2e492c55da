"""What a document's numbers are held against, and which of them are named as not checked."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app import __version__
from app.evidence.recomputation import UnlikeError, recompute
from forms.diagnosis.document import diagnosis_document
from forms.series.document import series_document
from storage.json_reader import DocumentError
from storage.records import RunStatus
from tests.builders import full_series, one, series
from tests.diagnoses import HEALTHY
from tests.reliability import evidence

GIGABYTES = 10**12


def document(**fields: Any) -> Any:
    return json.loads(json.dumps(series_document(one(1, **fields))))


def wrong(changed: Any, version: str = __version__) -> str:
    """The place that is refused; empty for none."""
    try:
        recompute([changed], version)
    except UnlikeError as error:
        return str(error).partition(" of ")[0]
    return ""


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (
            lambda made: made["average"].update(bytes_per_second=made["average"]["bytes_per_second"] + 1e-7),
            "average.byt",
        ),
        (lambda made: made["deviation"].update(seconds=made["deviation"]["seconds"] * (1 + 9e-10)), ""),
        (lambda made: made["deviation"].update(seconds=made["deviation"]["seconds"] * (1 + 1.1e-9)), "deviation.sec"),
        (lambda made: made["confidence"].update(low_bytes_per_second=1.0), "confidence.low"),
        (lambda made: made["shown"].update(series_percent=1.0), "shown.series"),
        (lambda made: made["runs"][2].update(bytes_per_second=1e12), "runs[2].bytes"),
        (lambda made: made["runs"][2].update(size_bytes=made["runs"][2]["size_bytes"] + 1), "runs[2].bytes"),
        (lambda made: made["runs"].pop(), "average"),
        (lambda made: made.pop("average"), "average"),
        (lambda made: made.pop("confidence"), "confidence"),
        (lambda made: made.update({"\u0430verage": made.pop("average")}), "\u0430verage"),
        (lambda made: made.update({"\u0430verage": made["average"]}), "\u0430verage"),
        (lambda made: made.update(average=None), "average"),
        (lambda made: made.update(average=True), "average"),
        (lambda made: made.update(advice=[]), ""),
        (lambda made: made.pop("experiment"), ""),
        (lambda made: made["target"].update(port=446), ""),
    ],
)
def test_what_does_not_follow_is_refused_and_what_is_measured_is_believed(change: Callable[[Any], object], place: str):
    made = document()
    if change(made) is None and not made["advice"]:
        made["advice"] = []
    found = wrong(made)
    assert found.startswith(place)
    assert bool(found) == bool(place)


def test_a_byte_more_of_a_large_file_is_seen():
    made = json.loads(json.dumps(series_document(series([100e6] * 3, size_bytes=GIGABYTES, warmups=0))))
    assert wrong(made) == ""
    made["runs"][0]["size_bytes"] += 1
    assert wrong(made).startswith("runs[0].bytes_per_second")


def test_the_capacity_of_a_load_is_computed_until_a_point_is_rejected():
    made = evidence.documents()["load"]
    another_version = "0.0.1"  # whose sentences are not compared: the answer names the capacity too
    made["capacity"]["carried"] += 1
    assert wrong(made, another_version) == "capacity.carried"
    made["points"][2] |= {"status": RunStatus.REJECTED.value, "reason": "a backup ran"}
    assert "capacity" in recompute([made], another_version)["load"]


def test_two_points_of_one_number_are_no_load():
    made = evidence.documents()["load"]
    made["points"][1]["number"] = made["points"][0]["number"]
    with pytest.raises(DocumentError, match="two points"):
        recompute([made], __version__)


def test_another_version_may_say_more_and_find_other_things_but_computes_alike():
    made = document()
    made |= {"flashed": 3, "advice": [{"key": "x", "text": "y"}]}
    assert wrong(made).startswith(("flashed", "advice"))
    (believed,) = recompute([made], "99.0").values()
    assert {"flashed", "advice"} <= set(believed)
    made["average"]["bytes_per_second"] *= 2
    assert wrong(made, "99.0").startswith("average.bytes_per_second")


def test_what_a_failed_run_has_no_rate_for_is_named():
    made = json.loads(json.dumps(series_document(full_series())))
    assert any(run["bytes_per_second"] is None for run in made["runs"])
    assert "runs[].size_bytes of some" in recompute([made], __version__)["series"]
    assert "runs[].size_bytes of some" not in recompute([document()], __version__)["series"]


def test_what_comes_from_the_senders_notebook_is_named():
    made = json.loads(json.dumps(evidence.documents()["load"]))
    made["prediction"] = {"worksheet": "x", "users": 24}
    assert "prediction" in recompute([made], __version__)["load"]


@pytest.mark.long
def test_each_changed_number_is_refused_or_named():
    figures = evidence.campaign(240, step=97)
    assert figures.losses == []
    assert figures.counts["refused"] > 10
    assert figures.counts["named as not checked"] > 3


def test_the_campaign_tells_a_number_that_passes():
    every = evidence.documents()
    assert {made["schema"].split("/")[1] for made in every.values()} >= {
        "series",
        "load",
        "isolation",
        "trial",
        "watch",
    }
    place = ("runs", 2, "seconds")
    assert evidence.name_of(place) == "runs[].seconds"
    before = copy.deepcopy(every["series"])
    other = evidence.changed(every["series"], place, evidence.CHANGES[0])
    assert every["series"] == before
    assert other["runs"][2]["seconds"] == before["runs"][2]["seconds"] + 1


def a_diagnosis() -> Any:
    return json.loads(json.dumps(diagnosis_document(HEALTHY)))


def test_a_diagnosis_of_a_version_that_judged_no_figure_is_not_refused():
    made = a_diagnosis()
    del made["next_step"], made["complaint"], made["ceiling_bytes_per_second"]
    for figure in made["figures"]:
        del figure["judgement"], figure["reference"], figure["why"]
    assert wrong(made, "0.3.0") == ""


@pytest.mark.parametrize(
    "change",
    [
        lambda figure: figure.update(judgement="problem"),
        lambda figure: figure["reference"].update(most=1.0),
        lambda figure: figure.update(reference=None),
    ],
)
def test_a_judgement_that_does_not_follow_from_the_samples_is_refused(change: Callable[[Any], object]):
    made = a_diagnosis()
    assert wrong(made) == ""
    change(made["figures"][0])
    assert wrong(made).startswith("figures[0].")


def test_a_series_that_another_machine_measured_follows_from_its_runs():
    measured = full_series()
    assert measured.plan is not None
    monitor = replace(measured.plan.monitor, from_host="alice@branch")
    made = json.loads(json.dumps(series_document(replace(measured, plan=replace(measured.plan, monitor=monitor)))))
    assert wrong(made) == ""
