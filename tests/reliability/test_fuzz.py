"""The short form of the fuzz campaign: some inputs to each reader, other ones each time the samples change."""

import pytest

from tests.reliability.figures import Figures
from tests.reliability.fuzz import quick_batch, shrinkable_batch
from tests.reliability.fuzz_subjects import subjects

FOUND = subjects()


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.long
def test_each_reader_takes_or_refuses_whatever_comes(name: str):
    figures = Figures()
    shrinkable_batch(name, FOUND[name], 17, 20, figures)
    quick_batch(name, FOUND[name], range(200), figures)
    assert figures.losses == []
    assert figures.counts["inputs"] >= 200


def test_an_input_that_breaks_a_reader_is_a_loss():
    def break_down(_text: str) -> None:
        raise ZeroDivisionError

    url = FOUND["URL"]
    figures, broken = Figures(), type(url)(inputs=url.inputs, feed=break_down)
    shrinkable_batch("URL", broken, 17, 5, figures)
    quick_batch("URL", broken, range(5), figures)
    assert [("ZeroDivisionError" in loss) for loss in figures.losses] == [True, True]
