"""Which worksheet a load is held against."""

from app.worksheets.prediction import prediction_of
from forms.worksheets.users import UsersCalculation
from storage.notebook import Notebook
from storage.records import Target, Worksheet
from tests.builders import series
from tests.loads import full_load


def test_the_prediction_is_the_newest_worksheets_whose_series_measured_that_server(tmp_path):
    load = full_load()
    here, elsewhere = (
        series([100e6] * 5, id=number * 12, target=Target(protocol="smb", host=host, share="data", path="big"))
        for number, host in (("1", "nas"), ("2", "other"))
    )
    with Notebook(tmp_path / "n.db") as notebook:
        for each in (here, elsewhere):
            notebook.add(each)
        for day, name, series_id in (
            (1, "old", here.id),
            (2, "new", here.id),
            (3, "of another", elsewhere.id),
            (4, "typed", None),
        ):
            worksheet = UsersCalculation(capacity_bytes_per_second=5e6, groups=(), series_id=series_id)
            notebook.save_worksheet(
                Worksheet(
                    kind="clients", name=name, saved_at=f"2026-01-0{day}T10:00:00.000Z", content=worksheet.to_content()
                )
            )
        found = prediction_of(notebook, load)
    assert found is not None
    assert (found.worksheet, found.users) == ("new", 20)
