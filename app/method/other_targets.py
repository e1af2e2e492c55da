"""A round that compares targets: the others beside its own, and whether all can be compared.

All sides get a file that is there, of the same size on each, or one that is made on each.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.base.errors import UsageError
from app.method.choices import GuideChoices, MethodStep, OtherSide, choices_of, in_new_round
from app.series.requests import with_label
from app.series.versus import target_names
from forms import wording
from storage.records import Series, Target, format_target


def with_other_target(choices: GuideChoices, picked: GuideChoices, place: int) -> GuideChoices:
    """The choices with what was ``picked`` elsewhere, as a round of its own, for their other target of that place.

    The place after the last one adds a target. Raises UsageError where it is one of the targets already.
    """
    assert picked.target is not None
    other = OtherSide(
        target=picked.target,
        file=picked.file,
        file_bytes=picked.file_bytes,
        kerberos=picked.kerberos,
        credentials=picked.credentials,
        server_ssh=picked.spec.monitor.server_ssh,
        smb_conf=picked.spec.monitor.smb_conf,
    )
    others = [*choices.others[:place], *choices.others[place + 1 :]]
    assert choices.target is not None
    chosen_places = [_measured_place(choices.target, choices.file), *map(_place_of_other, others)]
    if _place_of_other(other) == chosen_places[0]:
        raise UsageError("that is the target itself: name another server, share, path or file")
    if _place_of_other(other) in chosen_places:
        raise UsageError("that is one of the targets already: name another server, share, path or file")

    others.insert(place, other)
    return replace(in_new_round(choices), others=tuple(others), lacks_other=False)


def without_other_target(choices: GuideChoices, place: int) -> GuideChoices:
    """A round without the other target of that place."""
    others = (*choices.others[:place], *choices.others[place + 1 :])
    return replace(in_new_round(choices), others=others)


def without_other_targets(choices: GuideChoices) -> GuideChoices:
    """A round that measures the target alone."""
    return replace(in_new_round(choices), others=(), lacks_other=False)


def own_place(choices: GuideChoices) -> Target:
    """The round's own target with its file, or the folder in which one is made."""
    assert choices.target is not None
    return _measured_place(choices.target, None if choices.makes_file else choices.file)


def side_names(choices: GuideChoices) -> tuple[str, ...]:
    """What people call the targets, the round's own first: the least that tells them apart."""
    assert choices.target is not None
    places = [_measured_place(choices.target, choices.file), *map(_place_of_other, choices.others)]
    return tuple(wording.plain(name) for name in target_names(places))


def _measured_place(folder: Target, file: str | None) -> Target:
    return folder if file is None else replace(folder, path=file)


def _place_of_other(other: OtherSide) -> Target:
    return _measured_place(other.target, other.file)


def place_text(other: OtherSide) -> str:
    """Another target for people, with its file."""
    return wording.plain(format_target(_place_of_other(other)))


def place_to_choose_file(choices: GuideChoices) -> int | None:
    """The place of the first other target whose file cannot be compared with the round's own; None where all can."""
    if choices.makes_file or choices.file is None:
        return None
    places = range(len(choices.others))
    return next((place for place in places if choices.others[place].file_bytes != choices.file_bytes), None)


def why_not_comparable(choices: GuideChoices) -> str:
    """Why the files of the targets cannot be compared, and what to do; empty where they can."""
    place = place_to_choose_file(choices)
    if place is None:
        return ""

    own_name, *other_names = side_names(choices)
    other_name = other_names[place]
    other = choices.others[place]
    own_size = f"{choices.file_bytes or 0:,} bytes"
    if other.file is None:
        return f"{own_name} has a file of {own_size}, and none is chosen on {other_name}: choose one of the same size"
    other_size = f"{other.file_bytes or 0:,} bytes"
    return (
        f"the file on {own_name} has {own_size}, the one on {other_name} {other_size}: choose files of the same size,"
        " or have one made on each (step 2)"
    )


def choices_to_complete(of_comparison: Sequence[Series]) -> GuideChoices:
    """The round that completes series whose runs were interleaved, the base first."""
    base, *others = of_comparison
    sides = tuple(_side_to_complete(other) for other in others)
    return replace(choices_of(base), others=sides, series_id=base.id, step=MethodStep.RUN)


def _side_to_complete(series: Series) -> OtherSide:
    choices = choices_of(series)
    assert choices.target is not None
    return OtherSide(
        target=choices.target,
        file=choices.file,
        file_bytes=choices.file_bytes,
        server_ssh=choices.spec.monitor.server_ssh,
        smb_conf=choices.spec.monitor.smb_conf,
        series_id=series.id,
    )


def choices_to_compare(series: Series) -> GuideChoices:
    """A round that measures what a stored series measured, to be compared with other targets."""
    choices = in_new_round(replace(choices_of(series), step=MethodStep.RUN))
    # The sides are labelled by what tells them apart.
    return replace(choices, spec=with_label(choices.spec, ""), lacks_other=True)
