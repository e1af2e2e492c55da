"""The sides of a comparison that is measured interleaved: their names, what is asked of each, and their requests.

The first side is the *base*, with which each of the others is compared. It is used by ``run --versus``, by the guide
and by the notebook.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import PurePosixPath

from app.clients.base import Secrets
from app.recording.spec import Lineage, SeriesRequest, SeriesSpec
from app.series import requests as series_requests
from storage.notebook import Notebook
from storage.records import Series, SeriesStatus, Target, format_target, new_series_id

_AS_IT_IS = "as it is"
"""What the base is called where only options differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of the comparison: what is measured where, and the options that it differs from the base by."""

    spec: SeriesSpec
    target: Target
    secrets: Secrets
    options: str = ""


def spec_at(spec: SeriesSpec, target: Target, other: Target) -> SeriesSpec:
    """What was asked for at a target, as it can be asked for at another one.

    What belongs to the server of the first (its configuration, its place in an experiment), or to a protocol that the
    other does not speak, is left out.
    """
    is_same_host = other.host == target.host
    monitor = replace(spec.monitor, server_ssh=spec.monitor.server_ssh if is_same_host else None, smb_conf=None)
    spec = replace(
        spec,
        monitor=monitor,
        lineage=Lineage(),
        link_bits_per_second=spec.link_bits_per_second if is_same_host else None,
    )
    if not other.abilities.is_local:
        spec = replace(spec, settings=replace(spec.settings, drop_cache=False))
    if other.protocol == target.protocol:
        return spec

    spec = replace(spec, client="")
    if other.abilities.has_dialect:
        return spec
    return replace(
        spec,
        settings=replace(spec.settings, sign=False, encrypt=False, single_requests=False, like=None),
        counts=replace(spec.counts, profile=False),
    )


def side_requests(sides: Sequence[Side]) -> list[SeriesRequest]:
    """The requests to measure the sides interleaved, labelled by their names behind the base's own label.

    Raises UsageError.
    """
    label = sides[0].spec.texts.label
    labels = [f"{label} {name}".strip() for name in side_names(sides)]
    if labels[0] == f"{label} {_AS_IT_IS}":
        labels[0] = label
    return interleaved(
        [
            series_requests.series_request(series_requests.with_label(side.spec, side_label), side.target, side.secrets)
            for side, side_label in zip(sides, labels, strict=True)
        ]
    )


def interleaved(requests: Sequence[SeriesRequest]) -> list[SeriesRequest]:
    """The requests as those of one comparison, so that the notebook knows its series to belong together."""
    base_id = new_series_id()
    ids = [base_id, *(new_series_id() for _ in requests[1:])]
    return [
        replace(request, spec=replace(request.spec, interleaved_with=base_id), series_id=series_id)
        for request, series_id in zip(requests, ids, strict=True)
    ]


def series_of_comparison(notebook: Notebook, series_id: str) -> list[Series]:
    """The series of the comparison that this one was measured for, the base first; empty where it was for none."""
    ids = notebook.interleaved_ids(series_id)
    return notebook.all_of(ids) if len(ids) > 1 else []


def incomplete_series(all_series: Sequence[Series]) -> list[Series]:
    return [series for series in all_series if series.status is not SeriesStatus.COMPLETE]


def can_be_paired(base: Series) -> bool:
    """Whether runs of other sides that are completed now still find runs of the base beside them."""
    return base.status is not SeriesStatus.COMPLETE


def way_to_complete(notebook: Notebook, series_id: str) -> str:
    """How to complete the comparison of that series, which ended early; empty where it is of none."""
    of_comparison = series_of_comparison(notebook, series_id)
    if not of_comparison:
        return ""
    base = of_comparison[0]
    if can_be_paired(base):
        return f"`sharebench run --resume {base.id}` completes the comparison"
    return f"`sharebench run --again {base.id}` measures all again: runs completed now make no pairs with it"


def side_names(sides: Sequence[Side]) -> list[str]:
    """What the sides are called, the base first: the least that tells their targets apart, and what options differ."""
    targets = list(dict.fromkeys(side.target for side in sides))
    if len(targets) == 1:
        return [_AS_IT_IS, *(side.options for side in sides[1:])]

    name_by_target = dict(zip(targets, target_names(targets), strict=True))
    return [f"{name_by_target[side.target]} {side.options}".strip() for side in sides]


def target_names(targets: Sequence[Target]) -> list[str]:
    """The least text that tells the targets apart: host, share, protocol, port or file, or two of them.

    Where these do not, it is the whole address.
    """
    for parts in (*((part,) for part in _PARTS_OF_NAME), (_folder_and_file,), *combinations(_PARTS_OF_NAME, 2)):
        texts_of_targets = [[part(target) for part in parts] for target in targets]
        names = [" ".join(texts) for texts in texts_of_targets]
        if all(map(all, texts_of_targets)) and len(set(names)) == len(names):
            return names
    return [format_target(target) for target in targets]


def _host(target: Target) -> str:
    return target.host or "local"


def _share(target: Target) -> str:
    return target.share or ""


def _protocol(target: Target) -> str:
    return target.abilities.label


def _port(target: Target) -> str:
    return f"port {target.port_number}" if target.port_number else ""


def _file(target: Target) -> str:
    return PurePosixPath(target.path).name


def _folder_and_file(target: Target) -> str:
    return "/".join(PurePosixPath(target.path).parts[-2:])


_PARTS_OF_NAME: tuple[Callable[[Target], str], ...] = (_host, _share, _protocol, _port, _file)
