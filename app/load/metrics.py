"""The metrics that `sharebench load --textfile` writes for Prometheus."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.base.targets import parse_target
from app.load.scenario import parse_users
from app.load.spec import USUAL_USERS
from forms.watch.metrics import MetricSample, labels_of, load_samples
from storage.load.records import Load
from storage.records import utc_now

Samples = list[MetricSample]


def samples_of(load: Load) -> Samples:
    """What was measured."""
    return load_samples(load, _labels_of(load), load.choices.users)


def zeros_of(load: Load) -> Samples:
    """Zeros, for a stored load that could not be resumed."""
    return load_samples(None, _labels_of(load), load.choices.users, utc_now())


def zeros_of_options(urls: Sequence[str], choices: Mapping[str, Any]) -> Samples:
    """Zeros, for a new load that could not be measured; ``choices`` are the values of its options by name."""
    users = () if choices["find_capacity"] else parse_users(choices["users"] or USUAL_USERS)
    labels = labels_of(parse_target(urls[0]), "load", choices["label"])
    return load_samples(None, labels, users, utc_now())


def _labels_of(load: Load) -> dict[str, str]:
    return labels_of(load.targets[0], "load", load.label)
