"""``sharebench experiment`` on a notebook with a small experiment."""

import json
from pathlib import Path

import pytest

from app.cli.main import run
from app.method.choices import MEMORY_KEY, GuideChoices
from forms.exporters import FORMATS
from storage.notebook import Notebook
from storage.queries import SeriesQuery
from storage.records import Change, Command, Decision, Evidence, Experiment, ExperimentKind, Target
from tests.builders import book, series
from tests.specs import choices_with

FIVE = (99e6, 99.5e6, 100e6, 100.5e6, 101e6)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A notebook with the experiment ``tuning`` (a base and two changes) and a series outside of it."""
    path = tmp_path / "notebook.db"
    first = Change(name="log level", value="3", previous="0", evidence=Evidence.CONFIRMED, remark="log level changed.")
    second = Change(
        name="strict sync", value="no", evidence=Evidence.CONTRADICTED, remark="strict sync did not change."
    )
    with Notebook(path) as notebook:
        made = (("a", 1.0, None, None), ("b", 0.9, first, "a"), ("c", 1.2, second, "b"))
        for minute, (name, factor, change, base) in enumerate(made):
            notebook.add(
                series(
                    [rate * factor for rate in FIVE],
                    id=name * 12,
                    created_at=f"2026-01-31T10:0{minute}:00.000Z",
                    experiment="tuning",
                    base_id=base * 12 if base else None,
                    change=change,
                )
            )
        notebook.add(series(FIVE, id="d" * 12))
    return path


def experiment(db: Path, *arguments: str) -> int:
    return run(["experiment", *arguments, "--db", str(db)], lambda *_args, **_more: 0)


def test_list(db, tmp_path, capsys):
    assert experiment(db, "list") == 0
    assert capsys.readouterr().out == "2026-01-31 10:02 UTC    3 series  experiment  tuning\n"
    assert experiment(db, "list", "--json") == 0
    assert json.loads(capsys.readouterr().out) == [
        {"name": "tuning", "kind": "ladder", "series": 3, "last_at": "2026-01-31T10:02:00.000Z"}
    ]
    assert experiment(book(tmp_path / "empty.db"), "list") == 0
    out, err = capsys.readouterr()
    assert (out, "no experiments yet" in err) == ("", True)


def test_show(db, capsys):
    assert experiment(db, "show", "tuning") == 0
    out, err = capsys.readouterr()
    assert err == ""
    for words in (
        "1 from 0:      ? Inconclusive",
        "2 from 1:      ! Not the change that was claimed",
        "→ 2, ! not as claimed: strict sync",
        "contradicted",
    ):
        assert words in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_document(db, capsys):
    assert experiment(db, "show", "tuning", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "sharebench/experiment/1"
    assert [step["series"][0] for step in document["rungs"]] == ["a", "b", "c"]
    assert [step["standing"] for step in document["rungs"]] == [None, "proven", "not as claimed"]


def test_keep_and_revert_are_written_down_and_move_the_next_base(db, capsys):
    assert experiment(db, "keep", "bbbb") == 0
    assert "the next change is made from series bbbbbbbbbbbb" in capsys.readouterr().err
    assert experiment(db, "revert", "c", "--json") == 0
    out, err = capsys.readouterr()
    assert "restore strict sync as it was yourself; the next change is made from series bbbbbbbbbbbb" in err
    document = json.loads(out)
    assert [step["decision"] for step in document["rungs"]] == [None, "kept", "reverted"]
    assert [step["on_kept_path"] for step in document["rungs"]] == [True, True, False]
    with Notebook(db) as notebook:
        assert [one.decision for one in notebook.experiment("tuning")] == [None, Decision.KEPT, Decision.REVERTED]
        assert len(notebook.series("b").measured()) == 5
    assert experiment(db, "revert", "b") == 0
    assert (
        "restore log level to 0 yourself; the next change is made from series aaaaaaaaaaaa" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("show", "nothing"), "no experiment is called 'nothing'"),
        (("keep", "d"), "part of no experiment"),
        (("revert", "a"), "claims no change"),
        (("keep", "f"), "no series or baseline is called 'f'"),
    ],
)
def test_wrong_words(db, arguments, words, capsys):
    assert experiment(db, *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert len(err.splitlines()) == 1


@pytest.fixture
def rounds(db: Path) -> dict[ExperimentKind, str]:
    """The names of a survey of four series, a self-test, and a self-test that lost its second half."""
    kinds = (ExperimentKind.SURVEY, ExperimentKind.SELFTEST)
    made = {kind: Experiment(name=f"{kind} nas 2026", kind=kind, subject="nas") for kind in kinds}
    with Notebook(db) as notebook:
        for experiment_made in (*made.values(), Experiment(name="half", kind=ExperimentKind.SELFTEST)):
            notebook.add_experiment(experiment_made)
        for number, (protocol, command) in enumerate((p, c) for p in ("ftp", "smb") for c in Command):
            target = Target(protocol=protocol, host="nas", path="/f")
            notebook.add(series(FIVE, id=f"5{number:011x}", experiment=made[ExperimentKind.SURVEY].name,
                                target=target, command=command, label="renamed since"))  # fmt: skip
        for number, name in enumerate(("half", *[made[ExperimentKind.SELFTEST].name] * 2)):
            notebook.add(series(FIVE, id=f"6{number:011x}", experiment=name))
    return {kind: one.name for kind, one in made.items()}


def test_surveys_and_self_tests_are_shown_again_from_the_notebook(db, rounds, capsys):
    assert experiment(db, "list") == 0
    listed = capsys.readouterr().out
    assert all(f"{kind:<10}  {name}\n" in listed for kind, name in rounds.items())
    assert experiment(db, "show", rounds[ExperimentKind.SURVEY]) == 0
    text = capsys.readouterr().out
    assert "nas: over the network" in " ".join(text.split())
    assert text.index("Answer:") < text.index("Findings")
    assert experiment(db, "show", rounds[ExperimentKind.SELFTEST]) == 0
    assert "Self-test: the same thing twice, interleaved" in capsys.readouterr().out
    for kind, name in rounds.items():
        assert experiment(db, "show", name, "--json") == 0
        assert json.loads(capsys.readouterr().out)["schema"] == f"sharebench/{kind}/1"


@pytest.mark.varied
@pytest.mark.parametrize("kind", [ExperimentKind.SURVEY, ExperimentKind.SELFTEST])
@pytest.mark.parametrize("format_name", FORMATS)
def test_surveys_and_self_tests_are_exported_in_every_format(db, rounds, tmp_path, kind, format_name, capsys):
    file = tmp_path / f"form{FORMATS[format_name].suffix}"
    arguments = ["export", "--db", str(db), "--form", kind.value, rounds[kind], "-o", str(file)]
    assert run(arguments, lambda *_args, **_more: 0) == 0
    assert file.stat().st_size > 100
    capsys.readouterr()


def test_what_is_no_survey_is_not_written_as_one(db, rounds, capsys):
    for form, name, words in (
        ("survey", "tuning", "'tuning' is no survey: export it as an experiment (--form experiment)"),
        ("selftest", "half", "'half' was not completed"),
        ("survey", "nothing", "no experiment is called 'nothing'"),
    ):
        assert run(["export", "--db", str(db), "--form", form, name], lambda *_args, **_more: 0) == 2
        assert words in capsys.readouterr().err
    assert run(["export", "--db", str(db), "--form", "survey", "--blank"], lambda *_args, **_more: 0) == 2
    assert "there is no blank survey" in capsys.readouterr().err


def test_an_experiment_gets_another_name_with_its_series_and_in_the_guide(db: Path, capsys: pytest.CaptureFixture[str]):
    with Notebook(db) as notebook:
        notebook.remember(MEMORY_KEY, choices_with(experiment="tuning").to_memory())
    assert run(["rename", "tuning", " new disks ", "--db", str(db)], lambda *_args, **_more: 0) == 0
    assert "is called 'new disks'" in capsys.readouterr().err
    with Notebook(db) as notebook:
        assert [one.id[0] for one in notebook.experiment("new disks")] == ["a", "b", "c"]
        assert [each.experiment.name for each in notebook.experiments()] == ["new disks"]
        assert {found.recording_id[0] for found in notebook.find(SeriesQuery(text="new disks"))} == {"a", "b", "c"}
        assert GuideChoices.from_memory(notebook.remembered(MEMORY_KEY)).spec.lineage.experiment == "new disks"


@pytest.mark.parametrize(
    ("name", "new_name", "why"),
    [
        ("tuning", "other", "another experiment is called 'other'"),
        ("tuning", " ", "needs a name"),
    ],
)
def test_a_name_that_is_taken_is_refused(
    db: Path, capsys: pytest.CaptureFixture[str], name: str, new_name: str, why: str
):
    with Notebook(db) as notebook:
        notebook.add(series(FIVE, id="e" * 12, experiment="other"))
        notebook.add_experiment(Experiment(name="survey nas 2026", kind=ExperimentKind.SURVEY))
        notebook.add(series(FIVE, id="f" * 12, experiment="survey nas 2026"))
        before = [each.experiment for each in notebook.experiments()]
    assert run(["rename", name, new_name, "--db", str(db)], lambda *_args, **_more: 0) == 2
    assert why in capsys.readouterr().err
    with Notebook(db) as notebook:
        assert [each.experiment for each in notebook.experiments()] == before


def test_an_experiment_that_is_being_measured_keeps_its_name(db: Path, capsys: pytest.CaptureFixture[str]):
    with Notebook(db) as notebook:
        notebook.take("c" * 12)
    assert run(["rename", "tuning", "mine", "--db", str(db)], lambda *_args, **_more: 0) == 2
    assert "is being measured" in capsys.readouterr().err


def test_the_name_of_an_experiment_whose_series_were_deleted_is_free(db: Path):
    with Notebook(db) as notebook:
        notebook.add_experiment(Experiment(name="gone"))
    assert run(["rename", "tuning", "gone", "--db", str(db)], lambda *_args, **_more: 0) == 0
    with Notebook(db) as notebook:
        assert len(notebook.experiment("gone")) == 3
