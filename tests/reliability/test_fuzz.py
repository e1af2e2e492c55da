"""The short form of the fuzz campaign: some inputs to each reader, other ones each time the samples change."""

import pytest

from tests.reliability.figures import Figures
from tests.reliability.fuzz import batch
from tests.reliability.fuzz_subjects import subjects

FOUND = subjects()


@pytest.mark.parametrize("name", FOUND)
def test_each_reader_takes_or_refuses_whatever_comes(name: str):
    figures = Figures()
    batch(name, FOUND[name], 17, 40, figures)
    assert figures.losses == []
    assert figures.counts["inputs"] >= 40


def test_an_input_that_breaks_a_reader_is_a_loss():
    def break_down(_text: str) -> None:
        raise ZeroDivisionError

    figures = Figures()
    url = FOUND["URL"]
    batch("URL", type(url)(inputs=url.inputs, feed=break_down), 17, 5, figures)
    assert "ZeroDivisionError" in figures.losses[0]
