"""What is asked of a series, for the tests: from the names of single choices to the records that hold them."""

from dataclasses import fields, replace
from typing import Any, TypeVar

from app.method.choices import GuideChoices
from app.recording.process import MeasuringOrder
from app.recording.spec import SeriesRequest, SeriesSpec, with_values
from storage.plan import Plan, Settings
from storage.records import Experiment, Target

_Holder = TypeVar("_Holder", SeriesSpec, GuideChoices, SeriesRequest, MeasuringOrder)


def spec_with(*, settings: Settings | None = None, **values: Any) -> SeriesSpec:
    return with_values(SeriesSpec(settings=settings or Settings()), values)


def plan_with(**values: Any) -> Plan:
    return spec_with(**values).plan


def order_with(*, target: Target, **values: Any) -> MeasuringOrder:
    """An order; what is no choice of a spec is its own, such as ``done_runs``."""
    own = {field.name: values.pop(field.name) for field in fields(MeasuringOrder) if field.name in values}
    return MeasuringOrder(spec=spec_with(**values), target=target, **own)


def request_with(
    *, order: MeasuringOrder, title: str = "", experiment: Experiment | None = None, **values: Any
) -> SeriesRequest:
    """The request of a series that an order describes, with further choices."""
    return SeriesRequest(
        spec=with_values(order.spec, values),
        target=order.target,
        secrets=order.secrets,
        title=title,
        experiment=experiment,
    )


def choices_with(**values: Any) -> GuideChoices:
    """The guide's choices; what is none of its own is one of the series."""
    own = {field.name: values.pop(field.name) for field in fields(GuideChoices) if field.name in values}
    return GuideChoices(spec=spec_with(**values), **own)


def varied(record: _Holder, **values: Any) -> _Holder:
    """A spec, or what contains one, with these choices in place of its own."""
    if isinstance(record, SeriesSpec):
        return with_values(record, values)
    own = {field.name: values.pop(field.name) for field in fields(record) if field.name in values}
    return replace(record, spec=with_values(record.spec, values), **own)
